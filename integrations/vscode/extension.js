// Starts `tfnanlint lsp` and connects the editor to it. Everything else is done by the server.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function command() {
  const path = vscode.workspace.getConfiguration("tfnanlint").get("path");
  const [program, ...args] = path.length ? path : ["tfnanlint"];
  return { command: program, args: [...args, "lsp"] };
}

async function start(log) {
  const languages = ["file", "untitled", "vscode-notebook-cell"];
  client = new LanguageClient("tfnanlint", "tfnanlint", command(), {
    documentSelector: languages.map((scheme) => ({ language: "python", scheme })),
    outputChannel: log,
  });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `tfnanlint does not start: ${error.message}. Install it with pip install 'tfnanlint[lsp]', or set tfnanlint.path.`,
    );
  }
}

exports.activate = async (context) => {
  const log = vscode.window.createOutputChannel("tfnanlint", { log: true });
  const restart = async () => {
    await client?.stop();
    await start(log);
  };
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand("tfnanlint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("tfnanlint.path") && restart()),
  );
  await start(log);
};

exports.deactivate = () => client?.stop();
