package generate_test

import (
	"testing"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

// valveTexts say the same in the six languages that are held to it.
func valveTexts() map[string]string {
	return map[string]string{
		"en": "The relief valve of the pump closes when the pressure in the hose exceeds six bar.",
		"de": "Das Überdruckventil der Pumpe schließt, wenn der Druck im Schlauch sechs Bar übersteigt.",
		"fr": "La soupape de la pompe se ferme lorsque la pression dans le tuyau dépasse six bars.",
		"es": "La válvula de la bomba se cierra cuando la presión en la manguera supera los seis bares.",
		"zh": "当软管中的压力超过六巴时，水泵的安全阀会自动关闭。",
		"ja": "ホースの圧力が六バールを超えると、ポンプのリリーフバルブが自動的に閉じます。",
	}
}

func questions() map[string]string {
	return map[string]string{
		"en": "At which hose pressure does the outlet shut?",
		"de": "Ab welchem Druck geht das Ventil zu?",
		"fr": "À partir de quelle pression la vanne est-elle fermée ?",
		"es": "¿Con qué presión queda cerrada la bomba?",
		"zh": "压力达到多少时水泵会停下来？",
		"ja": "圧力がどれくらいになるとバルブは動きますか？",
	}
}

// TestLexicalGatesInSixLanguages holds that a good query passes in each
// language, one in another language is refused, and so is a copy.
func TestLexicalGatesInSixLanguages(t *testing.T) {
	gates := map[string]generate.Gate{
		"length": generate.Length, "language": generate.Language, "refers_to_text": generate.RefersToText,
		"self_contained": generate.SelfContained, "copied_run": generate.CopiedRun, "copied_overlap": generate.CopiedOverlap,
	}
	for language, text := range valveTexts() {
		of := func(query string) generate.Candidate {
			return generate.Candidate{
				Query: query, Type: datasets.Factual, Language: language,
				Chunk:    corpus.Chunk{ID: "p#0", Text: text, Language: language},
				Evidence: []datasets.Evidence{{ChunkID: "p#0", Quote: text}},
			}
		}
		for name, gate := range gates {
			if v := gate(of(questions()[language])); !v.Check.Passed {
				t.Errorf("%s: %s refuses a good query: %s", language, name, v.Detail)
			}
		}
		for other, query := range questions() {
			if v := generate.Language(of(query)); other != language && v.Check.Passed {
				t.Errorf("%s: a query in %s passes: %+v", language, other, v)
			}
		}
		if v := generate.CopiedRun(of(text)); v.Check.Passed {
			t.Errorf("%s: a copy passes", language)
		}
	}
}

// TestNamesInKatakanaAreWords holds that a long name shared with the evidence is
// no copied run.
func TestNamesInKatakanaAreWords(t *testing.T) {
	c := generate.Candidate{
		Query: "リリーフバルブとコンピューターの違いは何ですか", Type: datasets.Reformulated, Language: "ja",
		Chunk:    corpus.Chunk{ID: "p#0", Text: valveTexts()["ja"], Language: "ja"},
		Evidence: []datasets.Evidence{{ChunkID: "p#0", Quote: valveTexts()["ja"]}},
	}
	if v := generate.CopiedRun(c); !v.Check.Passed || v.Check.Value != 1 {
		t.Errorf("%+v", v)
	}
}
