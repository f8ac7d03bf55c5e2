#!/usr/bin/env python3
"""Compares capture/spool/cupti_abi.h and nvtx_abi.h with the official headers below the folder INCLUDE.

usage: check_abi.py SOURCE INCLUDE CC

Writes a C program of static assertions for what those headers have, and compiles it. Prints how many facts were compared.
"""
import os
import re
import subprocess
import sys
import tempfile

# Fields that took the place of padding in a record that was there before.
SINCE = {("Memset4", "isDeviceLaunched"): 130000}

NVTX = [
    ("NVTX_CB_MODULE_", ["CORE", "CUDA", "CUDART", "CORE2"], "NVTX_MODULE_"),
]

NVTX_CBIDS = {
    "NVTX_CORE_": ("NVTX_CBID_CORE_", "MarkEx MarkA MarkW RangeStartEx RangeStartA RangeStartW RangeEnd RangePushEx "
                   "RangePushA RangePushW RangePop NameCategoryA NameCategoryW NameOsThreadA NameOsThreadW"),
    "NVTX_CORE2_": ("NVTX_CBID_CORE2_", "DomainMarkEx DomainRangeStartEx DomainRangeEnd DomainRangePushEx "
                    "DomainRangePop DomainResourceCreate DomainResourceDestroy DomainNameCategoryA DomainNameCategoryW "
                    "DomainRegisterStringA DomainRegisterStringW DomainCreateA DomainCreateW DomainDestroy Initialize"),
    "NVTX_CUDA_": ("NVTX_CBID_CUDA_", "NameCuDeviceA NameCuDeviceW NameCuContextA NameCuContextW NameCuStreamA "
                   "NameCuStreamW NameCuEventA NameCuEventW"),
    "NVTX_CUDART_": ("NVTX_CBID_CUDART_", "NameCudaDeviceA NameCudaDeviceW NameCudaStreamA NameCudaStreamW "
                     "NameCudaEventA NameCudaEventW"),
}

NVTX_STRUCTS = [
    ("nvtx_attributes", "nvtxEventAttributes_t", [
        ("version", "version"), ("size", "size"), ("category", "category"), ("color_type", "colorType"),
        ("color", "color"), ("payload_type", "payloadType"), ("reserved0", "reserved0"), ("payload", "payload"),
        ("message_type", "messageType"), ("message", "message")]),
    ("nvtx_resource", "nvtxResourceAttributes_t", [
        ("version", "version"), ("size", "size"), ("identifier_type", "identifierType"),
        ("identifier", "identifier"), ("message_type", "messageType"), ("message", "message")]),
    ("nvtx_callbacks", "NvtxExportTableCallbacks", [
        ("struct_size", "struct_size"), ("get_module_functions", "GetModuleFunctionTable")]),
    ("nvtx_version_info", "NvtxExportTableVersionInfo", [
        ("struct_size", "struct_size"), ("version", "version"),
        ("set_injection_version", "SetInjectionNvtxVersion")]),
]

PAYLOAD_STRUCTS = [
    ("nvtx_payload_data", "nvtxPayloadData_t", [("schema", "schemaId"), ("size", "size"), ("payload", "payload")]),
    ("nvtx_schema", "nvtxPayloadSchemaAttr_t", [
        ("fields", "fieldMask"), ("name", "name"), ("type", "type"), ("flags", "flags"), ("entries", "entries"),
        ("count", "numEntries"), ("static_bytes", "payloadStaticSize"), ("align", "packAlign"), ("id", "schemaId"),
        ("extension", "extension")]),
    ("nvtx_schema_entry", "nvtxPayloadSchemaEntry_t", [
        ("flags", "flags"), ("type", "type"), ("name", "name"), ("description", "description"),
        ("offset", "offset"), ("semantics", "semantics"), ("reserved", "reserved")]),
    ("nvtx_extension", "nvtxExtModuleInfo_t", [
        ("nvtx_version", "nvtxVer"), ("struct_size", "structSize"), ("module", "moduleId"),
        ("compatibility", "compatId"), ("segment_count", "segmentsCount"), ("segments", "segments"),
        ("get_export_function", "getExportFunction"), ("info", "extInfo")]),
    ("nvtx_extension_segment", "nvtxExtModuleSegment_t", [
        ("id", "segmentId"), ("slots", "slotCount"), ("functions", "functionSlots")]),
]

PAYLOAD_SLOTS = {
    "SCHEMA_REGISTER": "nvtxPayloadSchemaRegister", "ENUM_REGISTER": "nvtxPayloadEnumRegister",
    "MARK": "nvtxMarkPayload", "RANGE_PUSH": "nvtxRangePushPayload", "RANGE_POP": "nvtxRangePopPayload",
    "RANGE_START": "nvtxRangeStartPayload", "RANGE_END": "nvtxRangeEndPayload",
    "DOMAIN_IS_ENABLED": "nvtxDomainIsEnabled", "EVENT_SUBMIT": "nvtxEventSubmit",
    "EVENT_BATCH_SUBMIT": "nvtxEventBatchSubmit",
}


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def same(ours, theirs):
    return f'_Static_assert(({ours}) == ({theirs}), "{ours}");'


def cupti_facts(ours, include):
    """Assertions for records, kinds, results, callback ids and function types."""
    header = read(os.path.join(include, "cupti_activity.h"))
    deprecated = os.path.join(include, "cupti_activity_deprecated.h")
    if os.path.exists(deprecated):
        header += read(deprecated)
    header += read(os.path.join(include, "cupti_result.h"))
    for name in ("cupti_callbacks.h", "cupti_driver_cbid.h", "cupti_runtime_cbid.h"):
        header += read(os.path.join(include, name))
    flat = ours.replace("\\\n", " ")
    lines = []
    for field, record, member, offset, size in re.findall(
            r"X\((CUPTI_\w+),\s*(\w+),\s*(\w+),\s*(\d+),\s*(\d+)\)", flat):
        if re.search(r"\}\s*CUpti_Activity%s\s*;" % record, header):
            since = SINCE.get((record, member), 0)
            lines.append(f"#if CUPTI_API_VERSION >= {since}")
            lines.append(same(offset, f"offsetof(CUpti_Activity{record}, {member})"))
            lines.append(same(size, f"sizeof(((CUpti_Activity{record} *)0)->{member})"))
            lines.append("#endif")
    for kind, number in re.findall(r"X\((\w+), (\d+)\)", flat):
        if re.search(r"\bCUPTI_ACTIVITY_KIND_%s\b" % kind, header):
            lines.append(same(number, f"CUPTI_ACTIVITY_KIND_{kind}"))
    pairs = {
        "CUPTI_RESULT_INVALID_PARAMETER": "CUPTI_ERROR_INVALID_PARAMETER",
        "CUPTI_RESULT_MAX_LIMIT_REACHED": "CUPTI_ERROR_MAX_LIMIT_REACHED",
        "CUPTI_RESULT_NOT_INITIALIZED": "CUPTI_ERROR_NOT_INITIALIZED",
        "CUPTI_RESULT_INVALID_KIND": "CUPTI_ERROR_INVALID_KIND",
        "CUPTI_RESULT_INSUFFICIENT_PRIVILEGES": "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
        "CUPTI_RESULT_MULTIPLE_SUBSCRIBERS": "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
        "CUPTI_RESULT_VIRTUALIZED_INSUFFICIENT_PRIVILEGES":
            "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
        "CUPTI_RESULT_UNKNOWN": "CUPTI_ERROR_UNKNOWN",
        "CUPTI_DOMAIN_DRIVER_API": "CUPTI_CB_DOMAIN_DRIVER_API",
        "CUPTI_DOMAIN_RUNTIME_API": "CUPTI_CB_DOMAIN_RUNTIME_API",
        "CUPTI_DOMAIN_RESOURCE": "CUPTI_CB_DOMAIN_RESOURCE",
        "CUPTI_DOMAIN_STATE": "CUPTI_CB_DOMAIN_STATE",
        "CUPTI_ID_DRIVER_PROFILER_START": "CUPTI_DRIVER_TRACE_CBID_cuProfilerStart",
        "CUPTI_ID_DRIVER_PROFILER_STOP": "CUPTI_DRIVER_TRACE_CBID_cuProfilerStop",
        "CUPTI_ID_RESOURCE_CONTEXT_CREATED": "CUPTI_CBID_RESOURCE_CONTEXT_CREATED",
        "CUPTI_ID_RESOURCE_CONTEXT_DESTROY_STARTING": "CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING",
        "CUPTI_ID_RESOURCE_CU_INIT_FINISHED": "CUPTI_CBID_RESOURCE_CU_INIT_FINISHED",
        "CUPTI_ID_RESOURCE_GRAPH_CREATED": "CUPTI_CBID_RESOURCE_GRAPH_CREATED",
        "CUPTI_ID_RESOURCE_GRAPH_CLONED": "CUPTI_CBID_RESOURCE_GRAPH_CLONED",
        "CUPTI_ID_RESOURCE_GRAPH_NODE_CREATED": "CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED",
        "CUPTI_ID_RESOURCE_GRAPH_EXEC_CREATED": "CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED",
        "CUPTI_ID_RESOURCE_GRAPH_NODE_CLONED": "CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED",
        "CUPTI_ID_STATE_FATAL_ERROR": "CUPTI_CBID_STATE_FATAL_ERROR",
        "CUPTI_ID_STATE_ERROR": "CUPTI_CBID_STATE_ERROR",
        "CUPTI_ID_STATE_WARNING": "CUPTI_CBID_STATE_WARNING",
        "CUPTI_SITE_ENTER": "CUPTI_API_ENTER",
        "CUPTI_SITE_EXIT": "CUPTI_API_EXIT",
        "CUPTI_ATTRIBUTE_ZEROED_OUT_BUFFER": "CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER",
        "CUPTI_ATTRIBUTE_PER_THREAD_BUFFER": "CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER",
        "CUPTI_THREAD_ID_SYSTEM": "CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM",
        "CUPTI_FLUSH_FORCED": "CUPTI_ACTIVITY_FLAG_FLUSH_FORCED",
    }
    lines += [same(a, b) for a, b in pairs.items() if re.search(r"\b%s\b" % b, header)]
    lines += [same(f"offsetof(struct cupti_callback_data, {a})", f"offsetof(CUpti_CallbackData, {b})")
              for a, b in (("site", "callbackSite"), ("function_name", "functionName"),
                           ("function_return_value", "functionReturnValue"), ("context", "context"),
                           ("context_uid", "contextUid"))]
    if "CUpti_GraphData" in header:
        lines.append(same("sizeof(struct cupti_graph_data)", "sizeof(CUpti_GraphData)"))
        lines += [same(f"offsetof(struct cupti_graph_data, {a})", f"offsetof(CUpti_GraphData, {b})")
                  for a, b in (("graph", "graph"), ("original_graph", "originalGraph"), ("node", "node"),
                               ("original_node", "originalNode"), ("graph_exec", "graphExec"))]
    if "CUpti_SubscriberParams" in header:
        lines.append(same("sizeof(struct cupti_subscriber)", "sizeof(CUpti_SubscriberParams)"))
    return lines


def nvtx_facts(include):
    detail = read(os.path.join(include, "nvtx3", "nvtxDetail", "nvtxTypes.h"))
    lines = []
    for theirs, names, ours in NVTX:
        lines += [same(ours + name, theirs + name) for name in names]
    for ours, (theirs, names) in NVTX_CBIDS.items():
        lines += [same(ours + snake(name), theirs + name) for name in names.split() if theirs + name in detail]
    structs = list(NVTX_STRUCTS)
    payload = os.path.join(include, "nvtx3", "nvToolsExtPayload.h")
    if os.path.exists(payload):
        structs += PAYLOAD_STRUCTS
        text = read(payload)
        lines += [same("NVTX_PAYLOAD_" + a, "NVTX3EXT_CBID_" + b) for a, b in PAYLOAD_SLOTS.items()
                  if "NVTX3EXT_CBID_" + b in text]
        lines.append(same("NVTX_PAYLOAD_KIND_EXT", "NVTX_PAYLOAD_TYPE_EXT"))
    for ours, theirs, fields in structs:
        lines.append(same(f"sizeof(struct {ours})", f"sizeof({theirs})"))
        lines += [same(f"offsetof(struct {ours}, {a})", f"offsetof({theirs}, {b})") for a, b in fields]
    lines += [same("NVTX_TABLE_CALLBACKS", "NVTX_ETID_CALLBACKS"),
              same("NVTX_TABLE_VERSION", "NVTX_ETID_VERSIONINFO"),
              same("NVTX_TEXT_ASCII", "NVTX_MESSAGE_TYPE_ASCII"),
              same("NVTX_TEXT_UNICODE", "NVTX_MESSAGE_TYPE_UNICODE"),
              same("NVTX_TEXT_REGISTERED", "NVTX_MESSAGE_TYPE_REGISTERED"),
              same("NVTX_COLOR_KIND_ARGB", "NVTX_COLOR_ARGB"),
              same("NVTX_RESULT_NO_PUSH_POP", "NVTX_NO_PUSH_POP_TRACKING")]
    return lines, os.path.exists(payload)


def compile_it(cc, source, include, text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "abi.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        command = [cc, "-std=c17", "-D_GNU_SOURCE", "-I", source, "-isystem", include, "-fsyntax-only", path]
        return subprocess.run(command, check=False).returncode


def main():
    source, include, cc = sys.argv[1:4]
    head = "#include <stddef.h>\n#include <stdint.h>\n#include <wchar.h>\n"
    facts = 0
    if os.path.exists(os.path.join(include, "cupti_activity.h")):
        lines = cupti_facts(read(os.path.join(source, "capture", "spool", "cupti_abi.h")), include)
        facts += sum(line.startswith("_S") for line in lines)
        if compile_it(cc, source, include,
                      head + '#include <cupti.h>\n#include "capture/spool/cupti_abi.h"\n' + "\n".join(lines) + "\n") != 0:
            return 1
    if os.path.exists(os.path.join(include, "nvtx3", "nvtxDetail", "nvtxTypes.h")):
        lines, payload = nvtx_facts(include)
        facts += sum(line.startswith("_S") for line in lines)
        text = head + "#define NVTX_NO_IMPL\n#include <nvtx3/nvToolsExt.h>\n"
        text += "#include <nvtx3/nvToolsExtPayload.h>\n" if payload else ""
        if compile_it(cc, source, include, text + '#include "capture/inject/nvtx_abi.h"\n' + "\n".join(lines) + "\n") != 0:
            return 1
    print(f"{include}: {facts} facts equal")
    return 0 if facts > 0 else 1


sys.exit(main())
