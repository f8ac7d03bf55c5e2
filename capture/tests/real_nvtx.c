/* A client of the real NVTX headers, compiled by test_inject_headers.sh where they are found. The
 * second client is the interop library of the CUDA toolkit, if its path is given. */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <string.h>

static nvtxEventAttributes_t attributes_of(const char *text)
{
    nvtxEventAttributes_t attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = text;
    return attributes;
}

static void second_client(const char *path, nvtxDomainHandle_t domain)
{
    void *library = dlopen(path, RTLD_NOW);
    int (*push)(const char *) = NULL;
    int (*pop)(void) = NULL;
    nvtxDomainHandle_t (*create)(const char *) = NULL;
    if (library == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return;
    }
    void *symbols[3] = {dlsym(library, "nvtxRangePushA"), dlsym(library, "nvtxRangePop"),
                        dlsym(library, "nvtxDomainCreateA")};
    memcpy(&push, &symbols[0], sizeof(push));
    memcpy(&pop, &symbols[1], sizeof(pop));
    memcpy(&create, &symbols[2], sizeof(create));
    (void)push("from the second client");
    (void)pop();
    printf("one domain: %d\n", create("real") == domain);
}

int main(int argc, char **argv)
{
    nvtxEventAttributes_t attributes = attributes_of("with everything");
    nvtxRangePushA("outer");
    nvtxRangePushW(L"inner \u00e9");
    nvtxRangePop();
    nvtxMarkA("marked");
    nvtxDomainHandle_t domain = nvtxDomainCreateA("real");
    attributes.category = 5;
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = 0xff010203U;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = -2;
    nvtxDomainNameCategoryA(domain, 5, "five");
    nvtxDomainRangePushEx(domain, &attributes);
    attributes = attributes_of(NULL);
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    nvtxDomainMarkEx(domain, &attributes);
    nvtxDomainRangePop(domain);
    nvtxRangeEnd(nvtxRangeStartA("started"));
    nvtxRangePop();
    if (argc > 1) {
        second_client(argv[1], domain);
    }
    return 0;
}
