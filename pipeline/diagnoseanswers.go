package pipeline

import (
	"fmt"

	"github.com/goldgen/goldgen/eval"
)

// namedAnswers are the answers that --answers and --answers-before name.
type namedAnswers struct {
	values eval.AnswerBaseline
	before eval.AnswersBeside // nil where none are named
}

// readNamed reads the answers that were named, nil for none. They must be
// answers to the same version of the set.
func (j *evalJob) readNamed() (*namedAnswers, error) {
	if j.o.Answers == "" {
		return nil, nil
	}
	now, err := j.readAnswers("--answers", j.o.Answers)
	if err != nil {
		return nil, err
	}
	named := &namedAnswers{}
	if named.values, err = readAnswerValues(j.o.Answers, now); err != nil {
		return nil, fmt.Errorf("--answers: %w", err)
	}
	if j.o.AnswersBefore == "" {
		return named, nil
	}
	was, err := j.readAnswers("--answers-before", j.o.AnswersBefore)
	if err != nil {
		return nil, err
	}
	if was.Join == nil {
		return nil, hinted("judge them again with goldgen eval answers --retrieval RESULT, which lays them beside a retrieval result",
			"%w: --answers-before %s: it does not know what was retrieved for them", ErrConfig, j.o.AnswersBefore)
	}
	named.before = was.Join.Beside()
	return named, nil
}

// answerHints says what follows from the named answers beside these rankings.
func (j *evalJob) answerHints(in *eval.Input, k int) (hints, notes []string) {
	if j.named == nil {
		return nil, nil
	}
	beside := eval.LayAnswers(in.Cases, j.named.values, k, in.MinGrade)
	if len(beside) == 0 {
		notes = append(notes, fmt.Sprintf("--answers %s: no case of this result has a judged answer", j.o.Answers))
	}
	return eval.AnswerHints(beside, j.named.before), notes
}

func (j *evalJob) readAnswers(flag, dir string) (answersManifest, error) {
	m, err := readAnswersManifest(dir)
	if err != nil {
		return m, fmt.Errorf("%s: %w", flag, err)
	}
	if ref := j.set.Ref(); m.Golden.Digest != ref.Digest {
		return m, fmt.Errorf("%w: %s %s: answers to %s, and this is scored over %s", ErrNotComparable, flag, dir, m.Golden.Ref, ref)
	}
	return m, nil
}
