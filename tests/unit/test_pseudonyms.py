"""Pseudonyms: stable, the same inside of longer texts, and keeping what XProf reads names for."""

from __future__ import annotations

import re

import pytest

from loader.redaction.pseudonyms import Pseudonyms

PSEUDONYMS = Pseudonyms("a secret of this service")
CODE = "[bcdfghjklnpqrstv]{12}"


def of(text: str) -> str:
    return PSEUDONYMS.text(text)


def test_a_text_has_one_pseudonym_as_long_as_the_secret_stays() -> None:
    again, other = Pseudonyms("a secret of this service"), Pseudonyms("another secret")
    assert again.text("layer_norm") == of("layer_norm") != other.text("layer_norm")
    assert again.mark == PSEUDONYMS.mark != other.mark
    assert of("layer_norm") not in PSEUDONYMS.mark


def test_different_texts_have_different_pseudonyms() -> None:
    names = [f"layer_{number}" for number in range(20_000)]
    assert len({of(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("layer_norm", f"n{CODE}"),
        ("fusion.12", rf"fusion\.{CODE}"),
        ("all-reduce.3", rf"all-reduce\.{CODE}"),
        ("broadcast_multiply_fusion", rf"broadcast_multiply_fusion\.{CODE}"),
        ("jit_train_step(123)", rf"jit_{CODE}\(123\)"),
        ("jit(train_step)/jvp(Model)/dot_general", rf"jit\(n{CODE}\)/jvp\(N{CODE}\)/dot_general"),
        ("dense/MyOp:MyOp", f"n{CODE}/N{CODE}:N{CODE}"),
        ("dense/MatMul:MatMul", f"n{CODE}/MatMul:MatMul"),
        ("$train.py:41 run", rf"\$n{CODE}\.py:n{CODE} n{CODE}"),
        ("/home/me/model.py:12", rf"/n{CODE}/n{CODE}/n{CODE}\.py:n{CODE}"),
        ("volta_h884gemm", f"n{CODE}_884"),
        ("Iterator::Root::Prefetch::Mine", f"Iterator::Root::Prefetch::N{CODE}"),
        ("Root::Prefetch", f"N{CODE}::N{CODE}"),
        ("10.0.0.1", f"n{CODE}"),
        ("call 0170 123", f"call n{CODE} n{CODE}"),
        ("Zür\udcffich", f"N{CODE}"),
        ("two\nlines\0", f"n{CODE} n{CODE} "),
    ],
)
def test_shapes(text: str, shape: str) -> None:
    assert re.fullmatch(shape, of(text)), of(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "17", "XLA Ops", "/device:TPU:3", "/host:CPU", "Stream #7(Compute)", "hlo_category"),
        *("convolution fusion", "MemoryAllocation", "TPU v5p", "[128,2048]", "persist/dynamic"),
        "regs:32 static_shared:0 dynamic_shared:0 grid:128,1,1 block:256,1,1 occ_pct:50",
        "tf_XLAEigen/-4968807809172832877",
    ],
)
def test_what_xprof_reads_stays(text: str) -> None:
    assert of(text) == text


def test_an_instruction_keeps_shapes_and_opcode_and_nothing_else() -> None:
    text = (
        "%fusion.3 = (f32[2]{0:T(8,128)}, s32[]) fusion(bf16[4,8]{1,0} %x.1, f32[] constant(0.25)), "
        'kind=kLoop, calls=%fused_computation.2, metadata={op_name="secret" source_line=99}'
    )
    assert of(text) == (
        f"%{of('fusion.3')} = (f32[2]{{0:T(8,128)}}, s32[]) fusion(bf16[4,8]{{1,0}} %{of('x.1')}, "
        f"f32[] constant()), kind=kLoop, calls=%{of('fused_computation.2')}"
    )
    cut = of("%x.1 = f32[2]{0} fusion(f32[2]{0} %hidden, f32[7")
    assert cut == f"%{of('x.1')} = f32[2]{{0}} fusion(f32[2]{{0}} %{of('hidden')}, f32[7"
    assert "4711" not in of("pin = f32[] mine(4711)")
    assert "0.25" not in of("%c = f32[] constant(0.25")


def test_a_name_is_the_same_wherever_it_stands() -> None:
    assert of("end: mine.4") == f"end: {of('mine.4')}"
    assert of("PjitFunction(train_step)") == f"PjitFunction({of('train_step')})"
    assert of("jit_step(7)") == f"{of('jit_step')}(7)"


def test_bytes_of_any_kind_have_a_pseudonym() -> None:
    assert PSEUDONYMS.encoded(b"\xff\xfe\x00") != PSEUDONYMS.encoded(b"\xff\xfd\x00")
    assert len(PSEUDONYMS.encoded(b"long" * 100_000)) < 100
