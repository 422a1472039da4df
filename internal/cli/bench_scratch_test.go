package cli

import (
	"os"
	"runtime"
	"testing"
)

// Each gate left some 20 MB of two packages in the cache of the go command, since it compiled the other
// revision in a folder with another name each time.
func TestScratchHasTheSameName(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if runtime.GOOS == "windows" {
		t.Skip("the folder for temporary files is another variable's there")
	}
	scratch := func(module string) (directory string, release func()) {
		directory, owner, err := newScratch(t.Context(), module)
		if err != nil {
			t.Fatal(err)
		}
		return directory, func() { os.RemoveAll(directory); owner.Close() }
	}
	first, release := scratch("here")
	atOnce, releaseToo := scratch("here")
	other, releaseOther := scratch("there")
	if first == atOnce || first == other {
		t.Errorf("two at once: %s, %s and %s", first, atOnce, other)
	}
	releaseToo()
	releaseOther()
	release()
	again, release := scratch("here")
	defer release()
	if again != first {
		t.Errorf("%s, and then %s", first, again)
	}
}

// A folder that another process cleared and a third one made anew, between the opening and the locking of
// its owner's file, is not left behind.
func TestScratchMadeAnewIsNotLeftBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	directory, owner, err := newScratch(t.Context(), "here")
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(directory)
	again, fresh, err := newScratch(t.Context(), "here")
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if isStillThere(again+"/"+scratchOwner, owner) || !isStillThere(again+"/"+scratchOwner, fresh) {
		t.Error("the owner's file of the folder that is gone is taken for that of the new one")
	}
	owner.Close()
	if left := ownerLeftBehind(again); left != nil {
		t.Error("the new folder is taken for one left behind")
	}
}
