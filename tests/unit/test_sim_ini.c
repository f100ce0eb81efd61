// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/sim.h"
#include "../../tools/sim/sim_sampler.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <string.h>

/* Scenarios: the values of an ini, and the messages about its mistakes. */

#define GOOD                                                                             \
	"[scenario]\ntitle = a title\ncache = 1 2.5%\n[dataset d]\nids = 0-9\n"          \
	"[job j]\ndataset = d\n"

static void refuse(const char *text, const char *message)
{
	struct sim_scenario scenario;
	char said[2048];
	cr_redirect_stderr();
	cr_assert_eq(sim_parse("x.ini", text, &scenario), -EINVAL);
	fflush(stderr);
	FILE *err = cr_get_redirected_stderr();
	said[fread(said, 1, sizeof(said) - 1, err)] = '\0';
	cr_assert(strstr(said, message), "%s instead of %s", said, message);
}

Test(sim_ini, presets)
{
	struct sim_scenario s;
	cr_assert_eq(sim_parse("x.ini", GOOD, &s), 0);
	cr_assert_str_eq(s.title, "a title");
	cr_assert_eq(s.n_samplers, 1);
	cr_assert_eq(s.samplers[0], SAMPLER_DSA);
	cr_assert_eq(s.evictions[0], EVICTION_REFCNT);
	cr_assert_eq(s.runs, 1);
	cr_assert_eq(s.jobs[0].epochs, 1);
	cr_assert_eq(s.jobs[0].speed, 1);
	sim_scenario_free(&s);
}

Test(sim_ini, sizes_are_samples_or_parts)
{
	struct sim_scenario s;
	cr_assert_eq(sim_parse("x.ini", GOOD, &s), 0);
	cr_assert_eq(s.n_caches, 2);
	cr_assert(!s.caches[0].fraction && s.caches[0].value == 1);
	cr_assert(s.caches[1].fraction && s.caches[1].value == .025);
	sim_scenario_free(&s);
}

Test(sim_ini, ids_are_a_range_or_a_random_subset)
{
	struct sim_scenario s;
	cr_assert_eq(sim_parse("x.ini",
			     GOOD "[dataset e]\nids = sample(100, 7)\n"
				  "[job k]\ndataset = e\nepochs = on\n",
			     &s),
		0);
	cr_assert_eq(s.datasets[0].end, 10);
	cr_assert_eq(s.datasets[0].size, 10);
	cr_assert(s.datasets[1].sample);
	cr_assert_eq(s.datasets[1].end, 100);
	cr_assert_eq(s.datasets[1].size, 7);
	cr_assert_eq(s.jobs[1].dataset, 1);
	cr_assert_eq(s.jobs[1].epochs, 0);
	sim_scenario_free(&s);
}

Test(sim_ini, a_cache_in_bytes)
{
	struct sim_scenario s;
	cr_assert_eq(sim_parse("x.ini", GOOD, &s), 0);
	cr_assert_eq(sim_override(&s, "cache", "100G 1.5M 7"), 0);
	cr_assert_eq(sim_override(&s, "bytes-per-sample", "147K"), 0);
	cr_assert_eq(sim_check(&s), 0);
	cr_assert(s.caches[0].bytes && s.caches[0].value == 100 * 0x1p30);
	cr_assert(s.caches[1].bytes && s.caches[1].value == 1.5 * 0x1p20);
	cr_assert(!s.caches[2].bytes && s.caches[2].value == 7);
	cr_assert_eq(s.sample_bytes, 147 * 1024);
	sim_scenario_free(&s);
}

Test(sim_ini, a_cache_in_bytes_needs_the_bytes_of_a_sample)
{
	struct sim_scenario s;
	cr_redirect_stderr();
	cr_assert_eq(sim_parse("x.ini", GOOD, &s), 0);
	cr_assert_eq(sim_override(&s, "cache", "100G"), 0);
	cr_assert_eq(sim_check(&s), -EINVAL);
	sim_scenario_free(&s);
}

Test(sim_ini, one_in_ten_samples_is_the_same_in_proportion)
{
	struct sim_scenario s, small;
	cr_assert_eq(sim_parse("x.ini",
			     "[scenario]\ntitle = t\ncache = 500 20% 1M\nlookahead = 40\n"
			     "bytes-per-sample = 1K\nlabels = 30\n"
			     "[dataset d]\nids = 1000-2999\n"
			     "[dataset e]\nids = sample(3000,600)\n"
			     "[job j]\ndataset = d\n",
			     &s),
		0);
	cr_assert_eq(sim_scaled(&s, 10, &small), 0);
	cr_assert_eq(small.datasets[0].first, 100);
	cr_assert_eq(small.datasets[0].size, 200);
	cr_assert_eq(small.datasets[1].end, 300);
	cr_assert_eq(small.datasets[1].size, 60);
	cr_assert_eq(small.caches[0].value, 50);
	cr_assert_eq(small.caches[1].value, .2);
	cr_assert_eq(small.sample_bytes, 10240);
	cr_assert_eq(small.lookahead, 4);
	cr_assert_eq(small.labels, 3);
	sim_scenario_free(&small);
	sim_scenario_free(&s);
}

Test(sim_ini, an_unknown_key_has_a_near_one)
{
	refuse(GOOD "sped = 2\n", "x.ini:8:[job j]:sped: not known, allowed: dataset, "
				  "speed, start, epochs; did you mean \"speed\"?");
}

Test(sim_ini, a_value_that_is_not_allowed)
{
	refuse(GOOD "epochs = 0\n",
		"x.ini:8:[job j]:epochs: found \"0\", allowed: 1 to 100000, or on");
}

Test(sim_ini, ids_that_are_none)
{
	refuse(GOOD "[dataset e]\nids = sample(5,6)\n",
		"x.ini:9:[dataset e]:ids: found \"sample(5,6)\", allowed: FIRST-LAST, or "
		"sample(N,K)");
}

Test(sim_ini, a_range_that_is_none)
{
	refuse(GOOD "[dataset e]\nids = 9-3\n", "found \"9-3\", allowed: FIRST-LAST");
}

Test(sim_ini, a_key_given_twice)
{
	refuse(GOOD "dataset = d\n",
		"x.ini:8:[job j]:dataset: found twice, allowed: once");
}

Test(sim_ini, a_section_given_twice)
{
	refuse(GOOD "[dataset d]\nids = 0-3\n", ":[dataset d]: found twice");
}

Test(sim_ini, an_unknown_section)
{
	refuse(GOOD "[jobs]\na = b\n", "x.ini:9:[jobs]: found \"jobs\", allowed: "
				       "[scenario], [dataset NAME], [job NAME]");
}

Test(sim_ini, a_dataset_that_is_not_there)
{
	refuse(GOOD "[job k]\ndataset = e\n",
		"x.ini:[job k]:dataset: found \"e\", allowed: the name of a "
		"[dataset NAME]");
}

Test(sim_ini, what_is_required)
{
	refuse("[scenario]\ncache = 1\n", "x.ini:[scenario]:title: found nothing, it is "
					  "required");
}

Test(sim_ini, a_job_is_required)
{
	refuse("[scenario]\ncache = 1\ntitle = t\n",
		"x.ini: found no [job NAME], one is required");
}

Test(sim_ini, a_line_that_is_nothing)
{
	refuse(GOOD "what\n", "x.ini:8: found neither");
}

Test(sim_ini, running_on_needs_an_end)
{
	struct sim_scenario s;
	cr_redirect_stderr();
	cr_assert_eq(sim_parse("x.ini", GOOD "epochs = on\n", &s), 0);
	cr_assert_eq(sim_check(&s), -EINVAL);
	cr_assert_eq(sim_override(&s, "length", "3"), 0);
	cr_assert_eq(sim_check(&s), 0);
	sim_scenario_free(&s);
}

/* The paper's tree is only in the simulation, not in the daemon. */
Test(sim_ini, dsa_tree_is_a_sampler_where_dsa_is_one)
{
	struct sim_scenario s;
	cr_redirect_stderr();
	cr_assert_eq(sim_parse("x.ini", GOOD, &s), 0);
	cr_assert_eq(sim_override(&s, "sampler", "dsa dsa-tree"), 0);
	cr_assert_eq(s.n_samplers, 2);
	cr_assert_eq(s.samplers[1], SAMPLER_DSA_TREE);
	cr_assert_str_eq(sim_sampler_name(s.samplers[1]), "dsa-tree");
	cr_assert_eq(sim_check(&s), 0);
	cr_assert_eq(sim_override(&s, "sampler", "dsa-tree"), 0);
	cr_assert_eq(sim_override(&s, "labels", "5"), 0);
	cr_assert_eq(sim_check(&s), -EINVAL);
	sim_scenario_free(&s);
}

Test(sim_ini, all_built_in_ones_are_right)
{
	int n = 0;
	for (const struct sim_builtin *b = sim_builtins; b->name; b++, n++) {
		struct sim_scenario s;
		cr_assert_eq(sim_load(b->name, &s), 0, "%s", b->name);
		cr_assert_eq(sim_check(&s), 0, "%s", b->name);
		sim_scenario_free(&s);
	}
	cr_assert_geq(n, 12);
}
