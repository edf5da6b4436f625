"""Prints what androguard reads in each APK named on the command line, as JSON.

Attributes stay as androguard gives them: text, None where absent. What is not APK.get_* comes from androguard's own XML,
resource table and dex readers, never from a second reader here. Where androguard fails, its error stands in for the facts.
"""

import json
import logging
import re
import sys
import warnings

# asn1crypto of this release still calls names that Python has deprecated.
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from androguard.core.bytecodes.apk import APK
from androguard.core.bytecodes.axml import AXMLPrinter
from androguard.core.bytecodes.dvm import DalvikVMFormat

KINDS = {
    "activities": ("activity", "activity-alias"),
    "services": ("service",),
    "receivers": ("receiver",),
    "providers": ("provider",),
}
FLAGS = ("debuggable", "allowBackup", "usesCleartextTraffic", "testOnly", "networkSecurityConfig")


def resolved(apk, value):
    """The value that a reference such as @7F020000 leads to."""
    return apk.get_res_value(value) if value is not None and value.startswith("@") else value


def labels(apk):
    """By locale; androguard calls the default locale two zero bytes."""
    label = apk.get_attribute_value("application", "label")
    if label is None or not label.startswith("@"):
        return {} if label is None else {"default": label}
    resources = apk.get_android_resources()
    configured = resources.get_resolved_res_configs(resources.parse_id(label)[0])
    return {config.get_language_and_region().strip("\0") or "default": text for config, text in configured}


def component(apk, element):
    # The name as the intent filters are found by it, with the package where the manifest leaves it out.
    name = apk._format_value(apk.get_value_from_tag(element, "name"))
    return {
        "name": name,
        "exported": resolved(apk, apk.get_value_from_tag(element, "exported")),
        "permission": apk.get_value_from_tag(element, "permission"),
        "filters": apk.get_intent_filters(element.tag, name),
    }


def permissions(apk):
    # get_permissions() leaves out uses-permission-sdk-23 and puts the package before names without a dot, which Android does not.
    requested = [tag for name in ("uses-permission", "uses-permission-sdk-23") for tag in apk.find_tags(name)]
    return {
        "requested": [[apk.get_value_from_tag(tag, "name"), apk._get_permission_maxsdk(tag)] for tag in requested],
        "declared": {name: details["protectionLevel"] for name, details in apk.get_declared_permissions_details().items()},
    }


def network(apk, config):
    """The security configuration; androguard reads its XML and leaves the meaning to others."""
    if config is None:
        return None
    root = AXMLPrinter(apk.get_file(config)).get_xml_obj()
    base = root.find("base-config")
    return {
        "file": config,
        "base_cleartext": None if base is None else base.get("cleartextTrafficPermitted"),
        "base_anchors": None if base is None else [each.get("src") for each in base.iter("certificates")],
        "domains": [
            {
                "cleartext": rule.get("cleartextTrafficPermitted"),
                "names": [[each.text.strip(), each.get("includeSubdomains")] for each in rule.findall("domain")],
                "pins": len(rule.findall("pin-set/pin")),
            }
            for rule in root.iter("domain-config")
        ],
    }


def certificate(each):
    validity = each["tbs_certificate"]["validity"]
    return {
        "sha256": each.sha256.hex(),
        "serial": format(each.serial_number, "x"),
        "not_before": int(validity["not_before"].native.timestamp()),
        "not_after": int(validity["not_after"].native.timestamp()),
    }


def signing(apk):
    return {
        "present": {"v1": apk.is_signed_v1(), "v2": apk.is_signed_v2(), "v3": apk.is_signed_v3()},
        "v1": [certificate(each) for each in apk.get_certificates_v1()],
        "v2": [certificate(each) for each in apk.get_certificates_v2()],
        "v3": [certificate(each) for each in apk.get_certificates_v3()],
    }


def dex(apk, name):
    code = DalvikVMFormat(apk.get_file(name))
    header = code.get_header_item()
    return {
        "name": name,
        "version": header.dex_version,
        "classes": header.class_defs_size,
        "methods": header.method_ids_size,
        "descriptors": [str(each) for each in code.get_classes_names()],
    }


def facts(path):
    apk = APK(path)
    flags = {name: resolved(apk, apk.get_attribute_value("application", name)) for name in FLAGS}
    return {
        "package": apk.get_package(),
        "version_code": apk.get_androidversion_code(),
        "version_name": resolved(apk, apk.get_androidversion_name()),
        "min_sdk": apk.get_min_sdk_version(),
        "target_sdk": apk.get_target_sdk_version(),
        "label": apk.get_app_name(),
        "labels": labels(apk),
        "main_activity": apk.get_main_activity(),
        "flags": flags,
        "network": network(apk, flags["networkSecurityConfig"]),
        "permissions": permissions(apk),
        "components": {kind: [component(apk, tag) for name in names for tag in apk.find_tags(name)] for kind, names in KINDS.items()},
        "signing": signing(apk),
        # androguard knows no ABIs; these are the folders of its list of files.
        "abis": sorted({match.group(1) for match in map(re.compile(r"lib/([^/]+)/[^/]+\.so$").match, apk.get_files()) if match}),
        "dex": [dex(apk, name) for name in apk.get_dex_names()],
    }


def facts_or_error(path):
    try:
        return {"facts": facts(path), "error": None}
    except Exception as error:
        return {"facts": None, "error": f"{type(error).__name__}: {error}"}


json.dump({path: facts_or_error(path) for path in sys.argv[1:]}, sys.stdout)
