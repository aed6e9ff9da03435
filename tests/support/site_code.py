"""Code that runs first in each Python that a test starts, and in each that this one starts."""

from __future__ import annotations

import os
from pathlib import Path

# Whatever asks for a connection is written down and refused.
NO_NETWORK = """
import sys

ASKED = {
    "socket.bind", "socket.connect", "socket.getaddrinfo", "socket.gethostbyaddr",
    "socket.gethostbyname", "socket.getnameinfo", "socket.sendmsg", "socket.sendto",
}


def refuse(event, arguments):
    if event in ASKED:
        with open(LOG, "a", encoding="utf-8") as stream:
            stream.write(f"{event} {arguments[1:]}\\n")
        raise PermissionError(f"{event} is not allowed here")


sys.addaudithook(refuse)
"""

# What Python has on Windows: neither names nor modules that only POSIX has, text that is printed
# with CRLF, and the platform's name. The standard library is imported before, for it looks at the
# platform to find its own modules.
WINDOWS = """
import asyncio
import concurrent.futures
import multiprocessing.connection
import multiprocessing.popen_spawn_posix
import multiprocessing.resource_tracker
import multiprocessing.shared_memory
import multiprocessing.spawn
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

ONLY_POSIX = '''
    chown fchown fork forkpty getegid geteuid getgid getgroups getpgid getuid getxattr killpg
    listxattr mkfifo nice O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK openpty posix_fallocate
    posix_spawn pread pwrite register_at_fork removexattr sched_getaffinity setsid setxattr statvfs
    sysconf uname WEXITSTATUS WIFSIGNALED WTERMSIG
'''
for name in ONLY_POSIX.split():
    if hasattr(os, name):
        delattr(os, name)
for name in "SIGALRM SIGHUP SIGPIPE SIGQUIT SIGUSR1 SIGXCPU setitimer".split():
    delattr(signal, name)
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None


class Posix:
    # `sys` for the module of the library that starts processes, here as on POSIX

    def __getattribute__(self, name):
        return "linux" if name == "platform" else getattr(sys, name)

    def __setattr__(self, name, value):
        setattr(sys, name, value)


multiprocessing.spawn.sys = Posix()
sys.platform = "win32"
sys.stdout.reconfigure(newline="\\r\\n")
"""


def site_code(folder: Path, code: str, **constants: object) -> dict[str, str]:
    """The environment for processes that run `code` before all else."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{name} = {value!r}\n" for name, value in constants.items()]
    (folder / "sitecustomize.py").write_text("".join(lines) + code)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}
