package corpus

// Chunking says how documents were cut. Method is fixed, sentence, recursive,
// markdown, code (by symbols), document or none (a chunk table); Size and Overlap
// are in Unit, which is tokens (of TokenEncoding, whatever the embedder's own are)
// or characters (Unicode code points).
type Chunking struct {
	Method  string `json:"method" yaml:"method"`
	Size    int    `json:"size" yaml:"size"`
	Overlap int    `json:"overlap" yaml:"overlap"`
	Unit    string `json:"unit" yaml:"unit"`
}

// Embedding identifies the vectors of a snapshot. Its digest names their file:
// text with accents or dashes gets other vectors on another server, so the
// server counts as well as the model.
type Embedding struct {
	Provider   string `json:"provider"`
	Server     string `json:"server"` // server software and version, not its address
	Model      string `json:"model"`
	Digest     string `json:"digest"` // the model's
	Dimensions int    `json:"dimensions"`
	Normalised bool   `json:"normalised"` // as the server gave them; stored vectors are unit norm
	Prefix     string `json:"prefix,omitempty"`
	Long       string `json:"long"` // cut, split or fail
}
