"""Makes one script of our browser modules and one stylesheet of our styles, for a page to ask for one each.

The sources stay plain ES modules, which tests import one by one. The linker reads them line by line and knows
only the forms that our sources keep to; whatever else could change the meaning raises `LinkError` at start,
never in a browser. It may not be used for files of others, which keep to no such forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from posixpath import dirname, join, normpath

from server.ui.source_map import SourceLine, make_source_map

_NAME = r"[A-Za-z_$][\w$]*"
_IMPORT_NAMES = re.compile(r'import \{([\w$,\s]*)\} from "([^"]+)";')
_IMPORTED = re.compile(rf"{_NAME}(?: as {_NAME})?")
_IMPORT_ALL = re.compile(rf'import \* as ({_NAME}) from "([^"]+)";')
_IMPORT_ONLY = re.compile(r'import "([^"]+)";')
_EXPORT = re.compile(rf"export (?:(?:async )?function\*?|class|const) ({_NAME})\b")
_UNKNOWN = re.compile(r"^(?:import|export)\b|\bimport\s*\(|\bimport\.meta\b")
_AWAIT = re.compile(r"\bawait\b")
_TEXT_WITH_COMMENT_SIGN = re.compile(r"""(["'])(?:(?!\1).)*/\*(?:(?!\1).)*\1""")


class LinkError(Exception):
    """A source of ours holds something that the linker does not know; says which and where."""


@dataclass(frozen=True)
class _Line:
    """A line of code.

    Attributes:
        number: its number in the source, from 0.
        text: without surrounding blanks.
        is_outermost: whether it starts in the first column, as statements of a module itself do.
    """

    number: int
    text: str
    is_outermost: bool


@dataclass(frozen=True)
class Module:
    """One source, taken apart.

    Attributes:
        name: its path below the folder of sources.
        imports: what its scope takes, as `(name of the module, left side of a declaration)`; the left side is
            empty when the module is only to be run before.
        needs: for each import the names that the other module must export.
        exports: names that others may take.
        lines: the code that is left.
    """

    name: str
    imports: tuple[tuple[str, str], ...]
    needs: tuple[tuple[str, tuple[str, ...]], ...]
    exports: tuple[str, ...]
    lines: tuple[_Line, ...]


@dataclass(frozen=True)
class Script:
    """A linked script.

    Attributes:
        text: the script; its last line names the source map.
        source_map: JSON that leads a debugger from its lines to those of the sources.
        modules: names of the modules in it, in the order in which they run.
    """

    text: str
    source_map: str
    modules: tuple[str, ...]


def _code_lines(name: str, source: str) -> Iterator[_Line]:
    """The lines without whole-line comments and blanks.

    Raises:
        LinkError: where a line can't be understood by itself.
    """
    is_comment = False
    for number, line in enumerate(source.splitlines()):
        text = line.strip()
        where = f"{name}, line {number + 1}"
        if not is_comment and text.startswith("/*"):
            is_comment = True
        if is_comment:
            if "*/" in text:
                is_comment = False
                if not text.endswith("*/"):
                    raise LinkError(f"{where}: code after a comment.")
            continue
        if not text or text.startswith("//"):
            continue
        if problem := _unclear(text):
            raise LinkError(f"{where}: {problem}")
        yield _Line(number, text, not line[0].isspace())
    if is_comment:
        raise LinkError(f"{name}: a comment does not end.")


def _unclear(text: str) -> str:
    """Why a line of code may not be understood without the next one; empty if it can."""
    if "/*" in _TEXT_WITH_COMMENT_SIGN.sub("", text):
        return "a comment that starts behind code."
    if len(re.findall(r"(?<!\\)`", text)) % 2:
        return "a template literal over more than one line."
    return "text that goes on in the next line." if text.endswith("\\") else ""


def _take_import(module: str, statement: str, where: str) -> tuple[str, str, tuple[str, ...]]:
    """Module, left side and needed names of an import."""
    if names := _IMPORT_NAMES.fullmatch(statement):
        parts = [part.strip() for part in names[1].split(",") if part.strip()]
        if not all(map(_IMPORTED.fullmatch, parts)):
            raise LinkError(f"{where}: {names[1].strip()} are no names to import.")
        pairs = [part.split(" as ") for part in parts]
        left = ", ".join(": ".join(pair) for pair in pairs)
        target, side, needed = names[2], f"{{ {left} }}", tuple(pair[0] for pair in pairs)
    elif everything := _IMPORT_ALL.fullmatch(statement):
        target, side, needed = everything[2], everything[1], ()
    elif only := _IMPORT_ONLY.fullmatch(statement):
        target, side, needed = only[1], "", ()
    else:
        raise LinkError(f"{where}: an import in a form that the linker does not know.")
    path = normpath(join(dirname(module), target))
    if not target.startswith(("./", "../")) or path.startswith("..") or not path.endswith(".js"):
        raise LinkError(f"{where}: {target} is no module of ours.")
    return path, side, needed


def read_module(name: str, source: str) -> Module:
    """Takes a source apart.

    Raises:
        LinkError: it holds something that the linker does not know.
    """
    imports: list[tuple[str, str]] = []
    needs: list[tuple[str, tuple[str, ...]]] = []
    exports: list[str] = []
    kept: list[_Line] = []
    lines = _code_lines(name, source)
    for line in lines:
        where = f"{name}, line {line.number + 1}"
        text = line.text
        if line.is_outermost and re.match(r"import\b(?!\s*[.(])", text):
            while not text.endswith(";"):
                following = next(lines, None)
                if following is None:
                    raise LinkError(f"{where}: an import does not end.")
                text += f" {following.text}"
            path, side, needed = _take_import(name, text, where)
            imports.append((path, side))
            needs.append((path, needed))
            continue
        if line.is_outermost and (export := _EXPORT.match(text)):
            exports.append(export[1])
            text = text.removeprefix("export ")
        if unknown := _UNKNOWN.search(text):
            raise LinkError(f"{where}: `{unknown[0]}` is nothing that the linker knows.")
        if line.is_outermost and _AWAIT.search(text) and "async" not in text:
            raise LinkError(f"{where}: a script can't wait at its outermost level.")
        kept.append(_Line(line.number, text, line.is_outermost))
    return Module(name, tuple(imports), tuple(needs), tuple(exports), tuple(kept))


class _Graph:
    """Modules in the order in which they must run: each after those that it imports."""

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self.modules: dict[str, Module] = {}
        self._path: list[str] = []

    def add(self, name: str) -> list[Module]:
        """What must run for a module and has not been added before, the module itself last."""
        if name in self._path:
            raise LinkError(f"Modules import each other: {' -> '.join([*self._path, name])}.")
        if name in self.modules:
            return []
        source = self._read(name)
        if source is None:
            raise LinkError(f"There is no module {name}, which {self._path[-1:]} imports.")
        module = read_module(name, source)
        self._path.append(name)
        added = [before for path, _ in module.imports for before in self.add(path)]
        self._path.pop()
        for path, needed in module.needs:
            if missing := set(needed) - set(self.modules[path].exports):
                raise LinkError(f"{name} imports {sorted(missing)}, which {path} does not export.")
        self.modules[name] = module
        return [*added, module]


def link_scripts(name: str, entries: Sequence[str], read: Callable[[str], str | None]) -> Script:
    """One script of modules and all that they import.

    Every module has a scope of its own. Entries run one after the other; one that fails is reported and does
    not keep the next from running, as with a `<script type="module">` each.

    Args:
        name: the script's own name, under which its map is `<name>.map`.
        entries: the modules that a page would name.
        read: gives a module's source, or None.

    Raises:
        LinkError: a source can't be linked.
    """
    graph = _Graph(read)
    groups = [graph.add(entry) for entry in entries]
    variables = {module: f"m{number}" for number, module in enumerate(graph.modules)}
    lines: list[tuple[str, SourceLine | None]] = [('"use strict";', None), ("(() => {", None)]
    lines.append((f"let {', '.join(variables.values())};", None))
    for group in groups:
        lines.append(("try {", None))
        for module in group:
            lines.extend(_module_lines(module, variables))
        lines.append(("} catch (problem) { reportError(problem); }", None))
    lines += [("})();", None), (f"//# sourceMappingURL={name}.map", None)]
    text = "".join(f"{line}\n" for line, _ in lines)
    source_map = make_source_map(name, [origin for _, origin in lines])
    return Script(text, source_map, tuple(graph.modules))


def _module_lines(
    module: Module, variables: dict[str, str]
) -> Iterator[tuple[str, SourceLine | None]]:
    """A module as a function that runs at once and gives its exports."""
    yield f"// {module.name}", None
    yield f"{variables[module.name]} = (() => {{", None
    for path, side in module.imports:
        if side:
            yield f"const {side} = {variables[path]};", None
    for line in module.lines:
        yield line.text, SourceLine(module.name, line.number)
    yield f"return Object.freeze({{ {', '.join(module.exports)} }});", None
    yield "})();", None


def link_styles(names: Sequence[str], read: Callable[[str], str | None]) -> str:
    """One stylesheet of several, in this order, without comments.

    Raises:
        LinkError: one is missing, or holds what would mean something else in the middle of a file.
    """
    parts = []
    for name in names:
        source = read(name)
        if source is None:
            raise LinkError(f"There is no stylesheet {name}.")
        text = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
        if unknown := re.search(
            r"@import|@charset|@namespace|url\((?!\s*[\"']?(?:data:|#))|\*/", text
        ):
            raise LinkError(f"{name}: `{unknown[0]}` is nothing that the linker knows.")
        if text.count("{") != text.count("}"):
            raise LinkError(f"{name}: a rule does not end.")
        lines = [line.strip() for line in text.splitlines()]
        parts.append("\n".join([f"/* {name} */", *filter(None, lines)]))
    return "\n".join(parts) + "\n"
