package pipeline

import (
	"fmt"

	"github.com/goldgen/goldgen/eval"
)

// answerHints reads the answers that were named and says what follows from
// them beside these rankings. They must be answers to the same version of the
// set.
func (j *evalJob) answerHints(in *eval.Input, k int) (hints, notes []string, err error) {
	if j.o.Answers == "" {
		return nil, nil, nil
	}
	now, err := j.readAnswers("--answers", j.o.Answers)
	if err != nil {
		return nil, nil, err
	}
	values, err := readAnswerValues(j.o.Answers, now)
	if err != nil {
		return nil, nil, fmt.Errorf("--answers: %w", err)
	}
	var before eval.AnswersBeside
	if j.o.AnswersBefore != "" {
		was, err := j.readAnswers("--answers-before", j.o.AnswersBefore)
		if err != nil {
			return nil, nil, err
		}
		if was.Join == nil {
			return nil, nil, hinted("judge them again with goldgen eval answers --retrieval RESULT, which lays them beside a retrieval result",
				"%w: --answers-before %s: it does not know what was retrieved for them", ErrConfig, j.o.AnswersBefore)
		}
		before = was.Join.Beside()
	}
	beside := eval.LayAnswers(in.Cases, values, k, in.MinGrade)
	if len(beside) == 0 {
		notes = append(notes, fmt.Sprintf("--answers %s: no case of this result has a judged answer", j.o.Answers))
	}
	return eval.AnswerHints(beside, before), notes, nil
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
