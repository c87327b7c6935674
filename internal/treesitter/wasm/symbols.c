// What Go needs of tree-sitter: the places in a text that a query names, and
// the first place where the text does not parse. Built by the script build beside
// this file, once for each grammar.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

// GRAMMAR is the grammar's function, such as tree_sitter_java.
const TSLanguage *GRAMMAR(void);

#define EXPORT(name) __attribute__((export_name(name)))

// found is one match of a query: which of its patterns, the node that the
// pattern captures as anything but @name, and its @name; none has length 0.
typedef struct {
  uint32_t pattern, start, end, name_start, name_end;
} found;

static TSQuery *query;
static uint32_t name_capture = UINT32_MAX;
static found *matches;
static uint32_t match_count, match_room;

EXPORT("take") void *take(uint32_t size) { return malloc(size); }
EXPORT("give") void give(void *place) { free(place); }
EXPORT("match_list") found *match_list(void) { return matches; }

// set_query prepares the query: 0, or the offset of what is wrong with it plus 1.
EXPORT("set_query") int64_t set_query(const char *text, uint32_t size) {
  uint32_t offset = 0;
  TSQueryError kind = TSQueryErrorNone;
  query = ts_query_new(GRAMMAR(), text, size, &offset, &kind);
  if (!query) return (int64_t)offset + 1;
  for (uint32_t i = 0; i < ts_query_capture_count(query); i++) {
    uint32_t length;
    const char *name = ts_query_capture_name_for_id(query, i, &length);
    if (length == 4 && memcmp(name, "name", 4) == 0) name_capture = i;
  }
  return 0;
}

// error_in finds the first node that stands for what could not be parsed.
static int64_t error_in(TSNode root) {
  TSTreeCursor at = ts_tree_cursor_new(root);
  for (;;) {
    TSNode node = ts_tree_cursor_current_node(&at);
    if (ts_node_is_error(node) || ts_node_is_missing(node)) break;
    if (ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&at)) continue;
    while (!ts_tree_cursor_goto_next_sibling(&at))
      if (!ts_tree_cursor_goto_parent(&at)) goto end;
  }
end:;
  uint32_t start = ts_node_start_byte(ts_tree_cursor_current_node(&at));
  ts_tree_cursor_delete(&at);
  return start;
}

static int keep(const TSQueryMatch *match) {
  if (match_count == match_room) {
    uint32_t room = match_room ? 2 * match_room : 1024;
    found *more = realloc(matches, room * sizeof(found));
    if (!more) return 0;
    matches = more;
    match_room = room;
  }
  found f = {.pattern = match->pattern_index};
  for (uint16_t i = 0; i < match->capture_count; i++) {
    TSNode node = match->captures[i].node;
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    if (match->captures[i].index == name_capture) f.name_start = start, f.name_end = end;
    else f.start = start, f.end = end;
  }
  matches[match_count++] = f;
  return 1;
}

// source is a text that the parser reads in one piece.
typedef struct {
  const char *text;
  uint32_t size;
  uint32_t error; // where reading stopped at an error, plus 1
} source;

static const char *read_source(void *payload, uint32_t at, TSPoint point, uint32_t *size) {
  source *s = payload;
  *size = at < s->size ? s->size - at : 0;
  return s->text + (at < s->size ? at : s->size);
}

// stop_at_error ends the parse of a text that has an error: to recover from
// many of them takes long, and nobody wants what comes of it.
static bool stop_at_error(TSParseState *state) {
  if (state->has_error) ((source *)state->payload)->error = state->current_byte_offset + 1;
  return state->has_error;
}

static TSTree *parse(source *s) {
  TSParser *parser = ts_parser_new();
  ts_parser_set_language(parser, GRAMMAR());
  TSInput input = {.payload = s, .read = read_source, .encoding = TSInputEncodingUTF8};
  TSParseOptions options = {.payload = s, .progress_callback = stop_at_error};
  TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
  ts_parser_delete(parser);
  return tree;
}

// find parses a text and runs the query over it: the number of matches, which
// match_list has; -1 where memory ended; else -2 minus the offset from which on it
// does not parse, or soon after.
EXPORT("find") int64_t find(const char *text, uint32_t size) {
  match_count = 0;
  source s = {.text = text, .size = size};
  TSTree *tree = parse(&s);
  if (!tree) return s.error ? -1 - (int64_t)s.error : -1;
  TSNode root = ts_tree_root_node(tree);
  int64_t result = 0;
  if (ts_node_has_error(root)) {
    result = -2 - error_in(root);
  } else {
    TSQueryCursor *cursor = ts_query_cursor_new();
    ts_query_cursor_exec(cursor, query, root);
    TSQueryMatch match;
    while (result >= 0 && ts_query_cursor_next_match(cursor, &match))
      result = keep(&match) ? match_count : -1;
    ts_query_cursor_delete(cursor);
  }
  ts_tree_delete(tree);
  return result;
}
