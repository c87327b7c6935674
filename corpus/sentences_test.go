package corpus_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
)

func sentences(text string) []string {
	var out []string
	for _, s := range corpus.Sentences(text) {
		out = append(out, text[s.Start:s.End])
	}
	return out
}

func TestSentences(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain":         {"One is here. Two is there! Is three?", []string{"One is here.", "Two is there!", "Is three?"}},
		"titles":        {"Ask Dr. Smith or Mr. J. R. Brown. They know.", []string{"Ask Dr. Smith or Mr. J. R. Brown.", "They know."}},
		"abbreviations": {"Use a tool, e.g. Make. See Fig. 3 for more.", []string{"Use a tool, e.g. Make.", "See Fig. 3 for more."}},
		"no is a word":  {"The answer is no. Then stop.", []string{"The answer is no.", "Then stop."}},
		"lines joined":  {"A sentence that\r\ngoes on. Next\none.\n\nNew block", []string{"A sentence that\r\ngoes on.", "Next\none.", "New block"}},
		"heading":       {"# The title. Of it\nText here.", []string{"The title. Of it", "Text here."}},
		"list":          {"1. First. Second part.\n2. Third\n- Fourth\n  goes on.", []string{"First.", "Second part.", "Third", "Fourth\n  goes on."}},
		"bare number":   {"It was step\n3. Then more. End.", []string{"It was step", "Then more.", "End."}},
		"quote":         {"> Quoted text\n> goes on. Second.", []string{"Quoted text\n> goes on.", "Second."}},
		"code is one":   {"Before.\n```go\na. B. c()\n\nd\n```\nAfter.", []string{"Before.", "```go\na. B. c()\n\nd\n```", "After."}},
		"open fence":    {"~~~\na. B", []string{"~~~\na. B"}},
		"table":         {"| A. B | c |\n|---|---|\n| d | e |", []string{"| A. B | c |", "|---|---|", "| d | e |"}},
		"setext":        {"Title\n===\nBody.", []string{"Title", "Body."}},
		"chinese":       {"第一句话。第二句话！", []string{"第一句话。", "第二句话！"}},
		"no capitals":   {"one is here. two, e.g. this one, is there! is three?", []string{"one is here.", "two, e.g. this one, is there!", "is three?"}},
		"set apart":     {"the Mach number is 3 . it\nrises . then , it falls .", []string{"the Mach number is 3 .", "it\nrises .", "then , it falls ."}},
		"capitals":      {"He said vs. nothing. i.e. all of it.", []string{"He said vs. nothing. i.e. all of it."}},
		"german":        {"Die Wahl war am 3. Oktober. Im 19. Jahrhundert, z. B. um 1850, kam Dr. Maier, d. h. er blieb. Siehe Abs. 2 bzw. Nr. 7. Das war es.", []string{"Die Wahl war am 3. Oktober.", "Im 19. Jahrhundert, z. B. um 1850, kam Dr. Maier, d. h. er blieb.", "Siehe Abs. 2 bzw. Nr. 7.", "Das war es."}},
		"german count":  {"Es waren 3. Dann gingen sie am 1. Mai.", []string{"Es waren 3.", "Dann gingen sie am 1. Mai."}},
		"german quote":  {"„Warum?“ fragte er. „Darum!“ Sie ging.", []string{"„Warum?“ fragte er.", "„Darum!“", "Sie ging."}},
		"french":        {"M. Dupont et Mme. Curie sont là, p. ex. ici. « Pourquoi ? » demanda-t-il. « Oui.\u00a0» Elle «\u202frit\u202f!\u202f». Voir l'art. 5. C'est tout !", []string{"M. Dupont et Mme. Curie sont là, p. ex. ici.", "« Pourquoi ? » demanda-t-il.", "« Oui.\u00a0»", "Elle «\u202frit\u202f!\u202f».", "Voir l'art. 5.", "C'est tout !"}},
		"spanish":       {"¿Dónde está el Sr. García? ¡Aquí! Vive en EE. UU., p. ej. en Texas. Véase la pág. 4.", []string{"¿Dónde está el Sr. García?", "¡Aquí!", "Vive en EE. UU., p. ej. en Texas.", "Véase la pág. 4."}},
		"chinese quote": {"他说：“你好。”然后走了。价格是3.5元吗？是的！", []string{"他说：“你好。”", "然后走了。", "价格是3.5元吗？", "是的！"}},
		"japanese":      {"「はい。」と言った。次は第3.5節です！本当ですか？はい。", []string{"「はい。」と言った。", "次は第3.5節です！", "本当ですか？", "はい。"}},
		"english quote": {"\"Why?\" she asked. He said \"Stop.\" Then he left on Jan. 5.", []string{"\"Why?\" she asked.", "He said \"Stop.\"", "Then he left on Jan. 5."}},
		"empty":         {" \r\n\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, sentences(c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSentencesAreOrderedSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := markdownText().Draw(t, "text")
		end := 0
		for _, s := range corpus.Sentences(text) {
			if s.Start < end || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("span %v after %d in %d bytes", s, end, len(text))
			}
			end = s.End
		}
	})
}

func TestLanguage(t *testing.T) {
	for want, text := range map[string]string{
		"en": "The pump starts when the red switch is on and the valve of the main line is open.",
		"de": "Die Pumpe läuft an, sobald der rote Schalter an ist und das Ventil der Hauptleitung offen steht.",
		"fr": "La pompe démarre lorsque l'interrupteur rouge est allumé et que la vanne principale est ouverte.",
		"es": "La bomba arranca cuando el interruptor rojo está encendido y la válvula de la tubería principal está abierta.",
		"zh": "当红色开关打开并且主管道的阀门开启时，水泵就会启动。",
		"ja": "赤いスイッチが入っていて、主管の弁が開いているときにポンプが始動します。",
		"":   "ERR-1042",
	} {
		t.Run(want, func(t *testing.T) {
			if got := corpus.Language(text); got != want {
				t.Errorf("language %q, want %q", got, want)
			}
		})
	}
	code := "Der Dienst wird mit diesem Befehl gestartet und danach im Browser geöffnet:\n```sh\nfor service in all of the services; do start the service and wait for the result; done\n```\n"
	if got := corpus.Language(code); got != "de" {
		t.Errorf("with code: %q", got)
	}
}
