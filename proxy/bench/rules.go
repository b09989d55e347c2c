package bench

// Rule is one way in which a run can deceive.
type Rule struct {
	ID    string `json:"id"`
	Title string `json:"title"` // a few words, for a table
	Means string `json:"means"` // what is wrong when the rule is broken, in one sentence
	Do    string `json:"do"`    // what to do about it
}

// Rules returns all rules in the order of their numbers. Whoever finds one broken says what was seen; these words are the
// same for a run of ours and for the output of another tool.
func Rules() []Rule { return table[:] }

// RuleOf returns the rule with that id. Its fields but ID are empty when there is none.
func RuleOf(id string) Rule {
	for _, r := range table {
		if r.ID == id {
			return r
		}
	}
	return Rule{ID: id}
}

var table = [...]Rule{
	{"V01", "other answers than expected",
		"Errors are quick, and a rate of errors says nothing about the application.",
		"Open the page by hand, make it answer well, and measure again."},
	{"V02", "a limiter or a login page answers",
		"429, 503 with Retry-After, 419 and redirects to a login come from before the application.",
		"Lift the throttle for the test (Laravel's api group has 60 a minute), or log in and send cookies."},
	{"V03", "the contents differ",
		"Two arms that do not answer the same do not do the same work.",
		"Look at the differences; mend them, or mask what may differ."},
	{"V04", "the sizes differ",
		"An answer of another size is another page, or comes with other headers.",
		"Compare one answer of each by hand, headers included."},
	{"V05", "the generator is in the way",
		"A load that is sent late, or takes the CPU of what it measures, measures itself.",
		"Move the generator to another machine or to cores of its own, or lower the rate."},
	{"V06", "rate times latency is not what was in flight",
		"By Little's law they are equal; what is missing waited somewhere without being counted.",
		"Look for hung requests, an overrun backlog, and errors that are not printed."},
	{"V07", "not steady",
		"A figure that still changes is not that of a warm application, and dead seconds are in the average.",
		"Warm up longer, and look for what else goes on."},
	{"V08", "unequal resources",
		"Whoever may use more CPU or memory wins for that reason.",
		"Give both the same CPU quota, memory limit and OPcache."},
	{"V09", "hung requests",
		"A request that has no answer at the end is in no latency and no average.",
		"Find out where it hangs; use a deadline that is shorter than the run."},
	{"V10", "too few samples",
		"A quantile with less than 20 samples beyond it is chance.",
		"Measure longer, or read a lower quantile."},
	{"V11", "killed or started anew",
		"A process that ended in between takes its warmth and its requests with it.",
		"Look into its log; memory limits, crashes and planned recycling all do that."},
	{"V12", "the machine was busy with something else",
		"Time that the host, swapping or others took is in the latency.",
		"Use a quiet machine, and none with CPU credits."},
	{"V13", "the machine drifts",
		"Two blocks of the same arm differ as two arms might.",
		"Use a quiet machine, or more pairs."},
	{"V14", "the order matters more than the arms",
		"Whoever comes second finds caches filled or the machine hot.",
		"Leave longer gaps, and warm up longer."},
	{"V15", "not asked in the same way",
		"Connections that are kept, names, protocols and pipelines cost of their own.",
		"Ask both sides by the same tool with the same options."},
	{"V16", "the rate was not reached",
		"The load was beyond what can be answered, and latency then grows with the length of the run.",
		"Lower the rate; gateway knee finds the highest."},
	{"V17", "the mirror saw too little",
		"What was dropped may be what differs.",
		"Raise its budget, or select less."},
	{"V18", "this machine ran out of ports or descriptors",
		"Requests failed before they were sent, which says nothing of who was to answer.",
		"Raise ulimit -n, keep connections, or lower the rate."},
	{"V19", "settings for debugging",
		"APP_DEBUG, Xdebug or a missing OPcache cost more than any difference of servers.",
		"Set up both sides as in production."},
	{"V20", "connections are not served alike",
		"Some connections share a busy worker while others idle.",
		"Use more connections; with Swoole, dispatch mode 3."},
}
