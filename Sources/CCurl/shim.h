// Debian's libcurl4-openssl-dev, documented in libcurl-easy(3). Swift calls no variadic functions, so the two that are
// get one function for each type.
#pragma once
#include <curl/curl.h>

static inline CURLcode curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
// Copied by libcurl; NULL takes an option back.
static inline CURLcode curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
// For CURLOPT_ERRORBUFFER and the options ending in DATA; not copied.
static inline CURLcode curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode curl_set_receiver(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_set_prereq(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline long curl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}
// Lives as long as the handle, or until its next use.
static inline const char *curl_get_string(CURL *easy, CURLINFO info) {
    const char *value = NULL;
    curl_easy_getinfo(easy, info, &value);
    return value;
}
// The caller frees the list.
static inline struct curl_slist *curl_get_list(CURL *easy, CURLINFO info) {
    struct curl_slist *value = NULL;
    curl_easy_getinfo(easy, info, &value);
    return value;
}
// For the infos ending in _T.
static inline curl_off_t curl_get_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}
