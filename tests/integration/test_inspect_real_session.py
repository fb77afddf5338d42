"""The inspection of a realistic session says what a protobuf library reads from the same file."""

from __future__ import annotations

from pathlib import Path

from loader.intake.inspect import inspect_profile
from server.demo.schema import parse_hlo, parse_space


def test_the_inspection_agrees_with_protobuf(small_session: Path) -> None:
    for path in sorted(small_session.glob("*.xplane.pb")):
        space = parse_space(path.read_bytes())
        planes = list(space.planes)
        names = [plane.name for plane in planes]
        modules: set[str] = set()
        longest = max(map(len, names))
        for plane in planes:
            for event in plane.event_metadata.values():
                longest = max(longest, len(event.name.encode()), len(event.display_name.encode()))
                if plane.name == "/host:metadata":
                    binary = [stat.bytes_value for stat in event.stats if stat.bytes_value]
                    modules.update(parse_hlo(proto).hlo_module.name for proto in binary)
        found = inspect_profile(path)
        assert found.planes == len(planes)
        assert found.device_planes == sum(name.startswith("/device:") for name in names) > 0
        assert found.lines == sum(len(plane.lines) for plane in planes) > 0
        assert found.longest_name == longest
        assert found.modules == tuple(sorted(modules)) != ()
        assert found.hostnames == (path.name.removesuffix(".xplane.pb"),)
        assert found.start_ns is not None
        assert found.stop_ns is not None
        assert found.start_ns < found.stop_ns
        assert found.warnings == ()
