package retrieve

import "slices"

// top keeps the k best of a stream: score descending, then id ascending.
type top struct {
	k    int
	ids  []string
	heap []scored // the worst kept one first
}

type scored struct {
	chunk uint32
	score float64
}

func newTop(k int, ids []string) *top {
	return &top{k: k, ids: ids, heap: make([]scored, 0, min(k, len(ids)))}
}

// compare is negative if a ranks before b.
func (t *top) compare(a, b scored) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	case t.ids[a.chunk] < t.ids[b.chunk]:
		return -1
	case t.ids[a.chunk] > t.ids[b.chunk]:
		return 1
	}
	return 0
}

func (t *top) add(chunk uint32, score float64) {
	s := scored{chunk, score}
	if len(t.heap) < t.k {
		t.heap = append(t.heap, s)
		t.up(len(t.heap) - 1)
		return
	}
	if t.compare(s, t.heap[0]) < 0 {
		t.heap[0] = s
		t.down()
	}
}

func (t *top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.compare(t.heap[i], t.heap[parent]) <= 0 {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *top) down() {
	for i := 0; ; {
		worst := 2*i + 1
		if worst >= len(t.heap) {
			return
		}
		if right := worst + 1; right < len(t.heap) && t.compare(t.heap[right], t.heap[worst]) > 0 {
			worst = right
		}
		if t.compare(t.heap[worst], t.heap[i]) <= 0 {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// hits empties the heap, best first.
func (t *top) hits() []Hit {
	slices.SortFunc(t.heap, t.compare)
	hits := make([]Hit, len(t.heap))
	for i, s := range t.heap {
		hits[i] = Hit{ChunkID: t.ids[s.chunk], Score: s.score}
	}
	t.heap = nil
	return hits
}
