"""Calls actions through a client that openapi-python-client generated, as a program would.

Reads {"package", "folder", "url", "key", "calls": [{"tag", "function", "parameters"}]} as JSON, and writes for each call
{"function", "status", "type", "same"}: the class of the parsed answer, and whether it holds the whole answer.
"""

import enum
import importlib
import json
import sys
import typing


def member(hint, value):
    """The value as the parameter's type hint wants it: of an enumeration, its member."""
    for one in (hint, *typing.get_args(hint)):
        if isinstance(one, type) and issubclass(one, enum.Enum):
            return one(value)
    return value


def call(package, client, tag, function, parameters):
    module = importlib.import_module(f"{package}.api.{tag}.{function}")
    hints = typing.get_type_hints(module.sync_detailed)
    # Names that Python has itself get an underscore.
    names = {name: name if name in hints else f"{name}_" for name in parameters}
    given = {names[name]: member(hints[names[name]], value) for name, value in parameters.items()}
    answer = module.sync_detailed(client=client, **given)
    parsed = answer.parsed
    return {
        "function": function,
        "status": int(answer.status_code),
        "type": type(parsed).__name__,
        "same": parsed is not None and parsed.to_dict() == json.loads(answer.content),
    }


task = json.load(sys.stdin)
sys.path.insert(0, task["folder"])
client_class = importlib.import_module(task["package"]).AuthenticatedClient
settings = {"base_url": task["url"], "token": task["key"], "prefix": "", "auth_header_name": "X-API-Key"}
with client_class(**settings) as client:
    json.dump([call(task["package"], client, **each) for each in task["calls"]], sys.stdout)
