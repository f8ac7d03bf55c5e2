/* replay: runs a fuzz target over the files of folders: its first inputs as a test. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analysis/fuzz/fuzz.h"

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    if (file == NULL || fstat(fileno(file), &st) != 0) {
        perror(path);
        return -1;
    }
    uint8_t *data = malloc((size_t)st.st_size + 1);
    size_t size = data == NULL ? 0 : fread(data, 1, (size_t)st.st_size, file);
    (void)fclose(file);
    if (data == NULL) {
        return -1;
    }
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

static int run_folder(const char *folder)
{
    char path[1024];
    struct dirent *entry;
    int count = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        perror(folder);
        return -1;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (run_file(path) != 0) {
            count = -1;
            break;
        }
        count++;
    }
    (void)closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int count = run_folder(argv[i]);
        if (count <= 0) {
            (void)fprintf(stderr, "%s: no inputs\n", argv[i]);
            return 1;
        }
        (void)printf("%s: %d inputs\n", argv[i], count);
    }
    return 0;
}
