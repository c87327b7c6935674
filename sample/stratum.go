package sample

// Stratum names the stratum of a chunk as Draw does. topics are those of Input.
func (o Options) Stratum(info *Info, topics []int) string {
	s := scanner{o: o, in: Input{Topics: topics}}
	return s.name(info)
}
