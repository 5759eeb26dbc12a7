"""What importing the client costs, measured in fresh processes."""

from __future__ import annotations

import subprocess
import sys

ALLOWED = {"annotated_types", "ecom_rlve", "httpx", "pydantic", "pydantic_core", "websockets"}
FORBIDDEN = ("fastapi", "numpy", "openenv", "faiss", "rich", "typer", "click", "uvicorn", "sklearn", "rapidfuzz")


def modules_after(*statements: str) -> set[str]:
    """Return the names of all modules loaded once ``statements`` ran in a fresh interpreter."""
    code = "\n".join([*statements, "import sys", "print('|'.join(sys.modules))"])
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.strip().split("|"))


def test_only_the_base_dependencies_are_loaded() -> None:
    """httpx loads rich and click for its own command line where they are installed; we add nothing to that."""
    base = {name.partition(".")[0] for name in modules_after("import httpx, pydantic")}
    tops = {name.partition(".")[0] for name in modules_after("import ecom_rlve.client")}
    foreign = {name for name in tops - base if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert foreign <= ALLOWED


def test_no_other_layer_is_loaded() -> None:
    ours = {name for name in modules_after("import ecom_rlve.client") if name.startswith("ecom_rlve")}
    others = {name for name in ours if not name.startswith("ecom_rlve.client")}
    assert others == {"ecom_rlve", *(f"ecom_rlve.{name}" for name in ("codes", "models", "run_models", "said_models"))}


def test_the_client_works_where_nothing_else_is_installed() -> None:
    block = f"import sys; sys.modules.update(dict.fromkeys({FORBIDDEN!r}))"
    loaded = modules_after(block, "from ecom_rlve import EcomEnv", "EcomEnv().close()")
    assert "ecom_rlve.client.client" in loaded
