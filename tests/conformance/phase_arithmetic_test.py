#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""The counts that pipeline_phases.py demands, against rings that are stepped through one use at a time."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "conformance"))
import pipeline_phases  # noqa: E402


def stepped(stages, steps):
    counts = [0] * stages
    for step in range(steps):
        counts[step % stages] += 1
    return counts


class Phases(unittest.TestCase):
    def test_rings(self):
        for stages in range(1, 11):
            for n in range(1, 45):
                full, all_freed = stepped(stages, n), stepped(stages, n)
                for program in ("pipeline_async", "pipeline_tma_async_warp_specialized"):
                    self.assertEqual(pipeline_phases.expected_phases(program, "x.Cluster1x1", stages, n, 1), full + all_freed)
                self.assertEqual(pipeline_phases.expected_phases("pipeline_tma_async", "x.Cluster2x1", stages, n, 1),
                                 full + stepped(stages, n - 1))

    def test_persistent_groups_take_turns(self):
        for tiles in range(1, 11):
            # [depth][group]: group 0 lets group 1 in and the other way round, once a tile and depth
            order = [[0, 0], [0, 0]]
            for tile in range(tiles):
                for depth in range(2):
                    order[depth][1 - tile % 2] += 1
            got = pipeline_phases.expected_phases("pipeline_tma_async_warp_specialized_persistent", "x.Cluster1x1", 3, 7, tiles)
            self.assertEqual(got, stepped(3, 7 * tiles) * 2 + order[0] + order[1])

    def test_a_launch_that_did_nothing_is_noticed(self):
        launch = ["x.Cluster2x1_Stage2", 2, 5, 1]
        right = [[cta, 8 * i, n] for cta in range(2) for i, n in enumerate([3, 2, 3, 2])]
        check = pipeline_phases.check_launch
        name = "pipeline_tma_async_warp_specialized"
        self.assertIsNone(check(name, launch, {"fault": False, "mbarriers": right}))
        self.assertIn("0 CTAs", check(name, launch, {"fault": False, "mbarriers": []}))
        self.assertIn("failed", check(name, launch, {"fault": True, "mbarriers": right}))
        wrong = [list(entry) for entry in right]
        wrong[5][2] -= 1
        self.assertIn("CTA 1", check(name, launch, {"fault": False, "mbarriers": wrong}))

    def test_what_a_program_announces(self):
        launches, states = pipeline_phases.announced(
            "[ RUN      ] Suite.Cluster4x1_Stage7\nStages = 7 kNumIters = 12\nPersistent version: Tiles per Cluster = 3\n"
            "[       OK ] Suite.Cluster4x1_Stage7 (5 ms)\n[ RUN      ] Suite.Other\n")
        self.assertEqual(launches, [["Suite.Cluster4x1_Stage7", 7, 12, 3]])
        self.assertEqual(states, {"Suite.Cluster4x1_Stage7": "ok", "Suite.Other": "not finished"})
        self.assertEqual(pipeline_phases.cluster_size("Suite.Cluster4x1_Stage7"), 4)


if __name__ == "__main__":
    unittest.main()
