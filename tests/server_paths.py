#!/usr/bin/env python3
"""Asks the installed Basic Memory's own functions about many cases, in one process, without starting the server.

    echo '{"ask": "path", "title": [65], "directory": []}' | <server's python> tests/server_paths.py

Reads JSON lines, answers one JSON line each. Text travels as lists of code points. Questions:

- path: title, directory (as write_note takes them), project (a name, default "main")
  → refused, or file_path, permalink, outside (the file would not be below the project's folder)
- edit: identifier, project → the files that edit_note could create for it: [file_path, outside], or refused
- move: destination, folder (true: destination_folder) → refused, or file_path, outside
- slug: text → generate_permalink of `text.md` without its prefix
- codepoints: first, last → isalnum, isspace, unidecode of each code point
"""
import atexit
import json
import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path, PurePosixPath, PureWindowsPath

HOME = tempfile.mkdtemp(prefix="bm-paths-")
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
os.environ.update(HOME=HOME, BASIC_MEMORY_HOME=HOME + "/notes", BASIC_MEMORY_CONFIG_DIR=HOME + "/config")
ROOT = Path(HOME) / "notes"
ROOT.mkdir()
warnings.simplefilter("ignore")

from basic_memory.runtime.note_move import normalize_note_move_destination_path  # noqa: E402
from basic_memory.schemas.base import Entity  # noqa: E402
from basic_memory.schemas.v2.note_write import WriteNoteRequest  # noqa: E402
from basic_memory.services.note_placement import note_path_readings, split_note_path  # noqa: E402
from basic_memory.utils import build_canonical_permalink, generate_permalink, validate_project_path  # noqa: E402
from unidecode import unidecode  # noqa: E402


def text(points):
    return "".join(map(chr, points))


def points(value):
    return [ord(character) for character in value]


def outside(file_path):
    """Whether the operating system would leave the project's folder."""
    resolved = os.path.normpath(os.path.join(str(ROOT), file_path))
    return resolved != str(ROOT) and not resolved.startswith(str(ROOT) + "/")


def written(title, directory):
    """The file path after the tool built the note and the API read it back."""
    note = Entity(title=title, directory=directory, content="x", content_type="text/markdown")
    sent = WriteNoteRequest(note=note).model_dump_json()
    received = WriteNoteRequest.model_validate_json(sent).note
    return Path(received.file_path).as_posix()


def path(case):
    title, directory = text(case["title"]), text(case["directory"])
    if directory == "/":
        directory = ""
    if directory and not validate_project_path(directory, ROOT):
        return {"refused": "directory"}
    if title and not title.strip():
        return {"refused": "title"}
    file_path = written(title, directory)
    permalink = build_canonical_permalink(case.get("project", "main"), Path(file_path))
    return {"file_path": points(file_path), "permalink": points(permalink), "outside": outside(file_path)}


def edit(case):
    identifier = text(case["identifier"])
    readings = note_path_readings(identifier, project_permalink=case.get("project", "main"))
    if not all(validate_project_path(reading, ROOT) for reading in readings):
        return {"refused": "identifier"}
    files = []
    for reading in readings:
        directory, title = split_note_path(reading)
        file_path = written(title, directory)
        files.append([points(file_path), outside(file_path)])
    return {"files": files}


def move(case):
    destination = text(case["destination"])
    if case.get("folder"):
        folder = PureWindowsPath(destination).as_posix().strip("/")
        destination = f"{folder}/n.md" if folder else "n.md"
    if not validate_project_path(destination, ROOT):
        return {"refused": "destination"}
    try:
        file_path = normalize_note_move_destination_path(destination)
    except ValueError:
        return {"refused": "destination"}
    return {"file_path": points(file_path), "outside": outside(file_path)}


def slug(case):
    return {"slug": points(generate_permalink(PurePosixPath(text(case["text"]) + ".md")))}


def codepoints(case):
    rows = []
    for point in range(case["first"], case["last"] + 1):
        character = chr(point)
        rows.append([character.isalnum(), character.isspace(), points(unidecode(character))])
    return {"rows": rows}


ASK = {"path": path, "edit": edit, "move": move, "slug": slug, "codepoints": codepoints}

for line in sys.stdin:
    case = json.loads(line)
    try:
        answer = ASK[case["ask"]](case)
    except Exception as error:  # an answer that the test will show, not a crash that it cannot attribute
        answer = {"failed": type(error).__name__ + ": " + str(error)[:200]}
    sys.stdout.write(json.dumps(answer) + "\n")
