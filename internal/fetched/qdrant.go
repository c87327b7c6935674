package fetched

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/status"

	"github.com/goldgen/goldgen/internal/dbaddress"
)

const (
	// scrollPage is how many points are asked for at a time.
	scrollPage = 256
	// maxAnswer bounds one answer, in bytes.
	maxAnswer = 256 << 20
	// noVector leaves vectors out.
	noVector = "none"
)

// Names of the fields that a point has beside its payload.
const (
	PointField  = "_point"    // its id, a number or a UUID
	VectorField = "embedding" // its vector
)

func (c Config) collection() string { return dbaddress.Collection(c.URL, c.Collection) }

// dial prepares a connection; nothing is sent.
func (c Config) dial(s *Store) (*qdrant.Client, error) {
	key := ""
	if m := fromEnvironment.FindStringSubmatch(c.APIKey); m != nil {
		if key = s.Getenv(m[1]); key == "" {
			return nil, fmt.Errorf("qdrant: api_key: %s is not set", m[1])
		}
	}
	client, _, err := dbaddress.NewQdrant(c.URL, key, maxAnswer)
	if err != nil {
		return nil, fmt.Errorf("qdrant: %w", err)
	}
	return client, nil
}

// plainQdrant says what a server answers.
func (c Config) plainQdrant(err error) error {
	u, _ := url.Parse(c.URL)
	if s, ok := status.FromError(err); ok {
		return fmt.Errorf("qdrant %s/%s: %s: %s", u.Host, c.collection(), s.Code(), s.Message())
	}
	return fmt.Errorf("qdrant %s/%s: %w", u.Host, c.collection(), err)
}

// scroll writes the points in the order of their ids. A collection that gains or
// loses points meanwhile is an error: what was read is no state of it.
func (c Config) scroll(ctx context.Context, s *Store, out *lines) error {
	client, err := c.dial(s)
	if err != nil {
		return err
	}
	defer client.Close()
	before, err := c.count(ctx, client)
	if err != nil {
		return err
	}
	n, err := c.pages(ctx, client, out)
	if err != nil {
		return err
	}
	if after, err := c.count(ctx, client); err != nil {
		return err
	} else if n != before || n != after {
		return fmt.Errorf("qdrant %s: was changed while it was read: %d points came, and it had %d before and has %d now; run the same command again", c.collection(), n, before, after)
	}
	return nil
}

func (c Config) count(ctx context.Context, client *qdrant.Client) (uint64, error) {
	n, err := client.Count(ctx, &qdrant.CountPoints{CollectionName: c.collection(), Exact: qdrant.PtrOf(true)})
	if err != nil {
		return 0, c.plainQdrant(err)
	}
	return n, nil
}

func (c Config) pages(ctx context.Context, client *qdrant.Client, out *lines) (n uint64, err error) {
	vectors := qdrant.NewWithVectors(true)
	switch c.Vector {
	case "":
	case noVector:
		vectors = qdrant.NewWithVectors(false)
	default:
		vectors = qdrant.NewWithVectorsInclude(c.Vector)
	}
	request := &qdrant.ScrollPoints{
		CollectionName: c.collection(), Limit: qdrant.PtrOf(uint32(scrollPage)), WithPayload: qdrant.NewWithPayload(true), WithVectors: vectors,
	}
	for {
		points, next, err := client.ScrollAndOffset(ctx, request)
		if err != nil {
			return n, c.plainQdrant(err)
		}
		for _, p := range points {
			row, err := c.point(p)
			if err == nil {
				err = out.add(row)
			}
			if err != nil {
				return n, fmt.Errorf("qdrant %s: point %s: %w", c.collection(), pointID(p.GetId()), err)
			}
			n++
		}
		if next == nil {
			return n, nil
		}
		request.Offset = next
	}
}

func pointID(id *qdrant.PointId) string {
	if uuid := id.GetUuid(); uuid != "" {
		return uuid
	}
	return strconv.FormatUint(id.GetNum(), 10)
}

// point is a point's payload, with its id and its vector.
func (c Config) point(p *qdrant.RetrievedPoint) (map[string]any, error) {
	row := map[string]any{}
	for key, v := range p.GetPayload() {
		value, err := payloadValue(v)
		if err != nil {
			return nil, fmt.Errorf("payload %s: %w", key, err)
		}
		row[key] = value
	}
	row[PointField] = pointID(p.GetId())
	if c.Vector == noVector {
		return row, nil
	}
	vector, err := c.vectorOf(p.GetVectors())
	if err == nil && vector != nil {
		row[VectorField] = vector
	}
	return row, err
}

// vectorOf is the configured dense vector, or the only one.
func (c Config) vectorOf(v *qdrant.VectorsOutput) ([]float32, error) {
	if single := v.GetVector(); single != nil && c.Vector == "" {
		return single.GetDense().GetData(), nil
	}
	byName := v.GetVectors().GetVectors()
	if c.Vector == "" && len(byName) > 1 {
		return nil, fmt.Errorf("vector: there are %s: name one, or %s", strings.Join(slices.Sorted(maps.Keys(byName)), ", "), noVector)
	}
	for name, one := range byName {
		if c.Vector == "" || name == c.Vector {
			return one.GetDense().GetData(), nil
		}
	}
	return nil, nil
}

// payloadValue is a payload's value as JSON has it.
func payloadValue(v *qdrant.Value) (any, error) {
	switch k := v.GetKind().(type) {
	case *qdrant.Value_StringValue:
		return k.StringValue, nil
	case *qdrant.Value_IntegerValue:
		return k.IntegerValue, nil
	case *qdrant.Value_DoubleValue:
		return plainValue(k.DoubleValue)
	case *qdrant.Value_BoolValue:
		return k.BoolValue, nil
	case *qdrant.Value_ListValue:
		list := make([]any, 0, len(k.ListValue.GetValues()))
		for _, one := range k.ListValue.GetValues() {
			value, err := payloadValue(one)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case *qdrant.Value_StructValue:
		fields := map[string]any{}
		for key, one := range k.StructValue.GetFields() {
			value, err := payloadValue(one)
			if err != nil {
				return nil, err
			}
			fields[key] = value
		}
		return fields, nil
	}
	return nil, nil
}

// probeQdrant asks for the collection.
func (c Config) probeQdrant(ctx context.Context, s *Store) error {
	client, err := c.dial(s)
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.GetCollectionInfo(ctx, c.collection()); err != nil {
		return c.plainQdrant(err)
	}
	return nil
}
