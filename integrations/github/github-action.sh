#!/usr/bin/env bash
# One run of tfnanlint in a GitHub workflow: the formats that the action's inputs ask for, and the exit code.
# Called by action.yml with the program's path; the inputs are in INPUT_*.
set -euo pipefail

program=$1
summary=${RUNNER_TEMP:?}/tfnanlint-summary.md

# The lines of a text that are not empty, as arguments: nothing in them is expanded or split.
arguments() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        line=${line%$'\r'}
        [ -z "$line" ] || printf '%s\0' "$line"
    done <<< "$1"
}

mapfile -d '' -t paths < <(arguments "${INPUT_PATHS:-.}")
mapfile -d '' -t more < <(arguments "${INPUT_ARGS:-}")

formats=(--output-format concise)
[ "${INPUT_ANNOTATIONS:-true}" != true ] || formats=(--output-format github)
[ "${INPUT_SUMMARY:-true}" != true ] || formats+=(--output-format "markdown=$summary")
[ -z "${INPUT_SARIF_FILE:-}" ] || formats+=(--output-format "sarif=$INPUT_SARIF_FILE")

code=0
"$program" check "${formats[@]}" "${more[@]}" -- "${paths[@]}" || code=$?

if [ -f "$summary" ]; then
    # What the step has written to its summary already stays.
    cat "$summary" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
    rm "$summary"
fi
if [ "$code" = 1 ] && [ "${INPUT_FAIL:-true}" != true ]; then
    code=0
fi
exit "$code"
