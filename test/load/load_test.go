package load

import "testing"

// TestManyParties: twenty parties at once on whatever machine this is; none fails,
// and none waits two seconds.
func TestManyParties(t *testing.T) {
	result, err := Run(t.Context(), Options{Parties: 20, Bytes: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"join": 40, "seal": 0, "roster": 20, "confirm": 20, "setup": 20, "fetch": 20 * 20, "contribute": 20, "status": 20}
	for _, p := range result.Phases {
		t.Logf("%-10s %4d requests in %.2f s, p99 %.3f s", p.Name, p.Requests, p.Seconds, p.P99)
		if p.Requests != want[p.Name] || p.Failed > 0 {
			t.Errorf("phase %s: %d requests, %d failed; want %d and none", p.Name, p.Requests, p.Failed, want[p.Name])
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("phases that did not happen: %v", want)
	}
	if result.P99 > 2 {
		t.Errorf("p99 of a request is %.2f s, want at most 2 s", result.P99)
	}
	if b := result.ContributionBytes; b < 90_000 || b > 120_000 {
		t.Errorf("a contribution has %d bytes, want about 100,000", b)
	}
}
