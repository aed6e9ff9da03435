"""Bytes of a source: its text and its encoding."""

from __future__ import annotations

import sys

import pytest

from tfnanlint.syntax.encodings import decode
from tfnanlint.syntax.source import Unreadable


@pytest.mark.parametrize(
    "data",
    [
        b"# -*- coding: utf-8 -*-\n# a teacher\x92s note\nx = 1\n",
        b"#!/usr/bin/python\n# coding: utf-8\nx = 1\nx = 2  # caf\xe9\n",
        b"# coding=utf_8\r\n\r\nx = 'a'  # \xff # \xfe\r\ny = 2\r\n",
        b"x = 1\ny = 2\nz = 3  # \xff\n",
        b"# caf\xe9\nx = 1\n",
        b"\xef\xbb\xbfx = 1  # caf\xe9\n",
        b"\xef\xbb\xbf# coding: utf-8\n\n# caf\xe9\n",
    ],
)
def test_stray_bytes_in_comments_are_read_over(data):
    text, encoding = decode(data)
    mark = b"\xef\xbb\xbf"
    assert encoding == ("utf-8-sig" if data.startswith(mark) else "utf-8")
    if sys.version_info < (3, 14):  # which refuses to compile them
        compile(data, "a.py", "exec")
    assert "\ufffd" in text
    assert len(text) == len(data.removeprefix(mark))


@pytest.mark.parametrize(
    "data",
    [
        b"# coding: utf-8\n\nx = '\xff'\n",
        b"# coding: utf-8\n\n# \xff\nx = '#\xff'\n",
        b"\xef\xbb\xbfx = 1\ny = '\xff'\n",
        b"# coding: ascii\nx = 1  # \xff\n",
        b"# coding: utf8\nx = 1  # \xff\n",
    ],
)
def test_stray_bytes_elsewhere_cannot_be_read(data):
    with pytest.raises(Unreadable):
        decode(data)
