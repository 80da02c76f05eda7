"""Imports all generated modules from a package, beside modules of its own that have their names."""

import importlib
from pathlib import Path

import iam
import resources

assert iam.OURS and resources.OURS
modules = sorted(path.relative_to("gen").with_suffix("") for path in Path("gen/tenantry_api").rglob("*.py"))
assert modules, "there are no modules"
for module in modules:
    importlib.import_module(".".join(module.parts))

from tenantry_api.iam.v1alpha import member_pb2

assert member_pb2.Member(name="alice").name == "alice"
print(f"python: {len(modules)} modules in a package")
