"""What a Hugging Face Space reads says the same as what the package and the image say."""

from __future__ import annotations

from pathlib import Path

import yaml

from ecom_rlve.server.web.mount import PATH

ROOT = Path(__file__).resolve().parents[2]


def test_the_front_matter_fits_the_image_and_the_page() -> None:
    _, front, text = (ROOT / "deploy/space/README.md").read_text().split("---\n", 2)
    told, manifest = yaml.safe_load(front), yaml.safe_load((ROOT / "openenv.yaml").read_text())
    assert told["sdk"] == "docker"
    assert told["base_path"] == PATH
    assert told["app_port"] == manifest["port"]
    assert f"PORT={told['app_port']}" in (ROOT / "Dockerfile").read_text()
    assert manifest["type"] == "space"
    assert len(told["short_description"]) <= 60
    assert text.strip().startswith(f"# {told['title']}")
