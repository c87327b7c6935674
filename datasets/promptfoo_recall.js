const hits = typeof output === 'string' ? JSON.parse(output) : output;
const ids = hits.map((hit) => (typeof hit === 'string' ? hit : hit.chunk_id));
const wanted = context.test.metadata.relevant_chunk_ids;
if (wanted.length === 0) {
  const none = ids.length === 0;
  return { pass: none, score: none ? 1 : 0, reason: `${ids.length} chunks returned where nothing answers` };
}
const found = wanted.filter((id) => ids.includes(id)).length;
return { pass: found > 0, score: found / wanted.length, reason: `${found} of ${wanted.length} relevant chunks returned` };
