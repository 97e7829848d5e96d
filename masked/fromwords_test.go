package masked

import (
	"strings"
	"testing"
)

// TestFromWords holds that coded words pass as they are up to the bound, and that one
// beyond it is refused by name on either side.
func TestFromWords(t *testing.T) {
	s := numbered(3, 2.5)
	limit, _ := Fixed(2.5)
	minus := Word{}.Sub(limit)
	v, err := FromWords(s, []Word{limit, minus, {Lo: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if got := v.reveal(); got[0] != limit || got[1] != minus || got[2] != (Word{Lo: 1}) {
		t.Errorf("words became %v", got)
	}
	for _, bad := range []Word{limit.Add(Word{Lo: 1}), minus.Sub(Word{Lo: 1}), {Hi: 1 << 63}, {Hi: 3}} {
		if _, err := FromWords(s, []Word{{}, bad, {}}); err == nil || !strings.Contains(err.Error(), `"sum 2" is outside ±2.5`) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := FromWords(s, make([]Word, 2)); err == nil {
		t.Error("two words were taken for three statistics")
	}
	if _, err := FromWords(numbered(1, 0x1p63), make([]Word, 1)); err == nil {
		t.Error("a bound that words cannot have was taken")
	}
}
