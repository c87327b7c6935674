package eval

import "hash/maphash"

// idIndex maps the ids of one case to numbers. A few are found by going through
// their hashes, which takes less than a map does.
type idIndex struct {
	seed   maphash.Seed
	hashes []uint64
	ids    []string
	values []int32
	many   map[string]int // from id to place in values; not in use while there are few
}

// fewIDs is up to where ids are gone through.
const fewIDs = 32

func newIDIndex() *idIndex { return &idIndex{seed: maphash.MakeSeed(), many: map[string]int{}} }

func (x *idIndex) clear() {
	x.hashes, x.ids, x.values = x.hashes[:0], x.ids[:0], x.values[:0]
	clear(x.many)
}

// value gives the place of an id's number, and whether the id was known; one
// that was not is now, and has 0. The place is good until the next call.
func (x *idIndex) value(id string) (number *int32, known bool) {
	hash := maphash.String(x.seed, id)
	for at, h := range x.hashes {
		if h == hash && x.ids[at] == id {
			return &x.values[at], true
		}
	}
	at, known := x.many[id]
	if !known {
		at = len(x.values)
		x.values = append(x.values, 0)
		x.add(id, hash, at)
	}
	return &x.values[at], known
}

func (x *idIndex) add(id string, hash uint64, at int) {
	if at < fewIDs {
		x.hashes, x.ids = append(x.hashes, hash), append(x.ids, id)
	} else {
		x.many[id] = at
	}
}
