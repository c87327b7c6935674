package datasets

// ReadManifest reads the manifest of the version in dir, upgraded to the format
// of today.
func ReadManifest(dir string) (*Manifest, error) { return readManifest(dir) }
