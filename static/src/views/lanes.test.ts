import { expect, test } from 'vitest'
import type { Branch, TimelineRow } from '../wire'
import { laneLines } from './lanes'

const row = (checkpoint_id: string, branch: string, lane: number) => ({ checkpoint_id, branch, lane }) as TimelineRow
const branch = (id: string, lane: number, tip: string, forked_from: string | null): Branch => ({ id, lane, tip, forked_from, count: 1 })

test('a lone line runs from its tip to its first checkpoint and no further', () => {
  const lines = laneLines([row('c', 'a', 0), row('b', 'a', 0), row('a', 'a', 0)], [branch('a', 0, 'c', null)])
  expect(lines.map(parts => parts.map(line => line.part))).toEqual([['down'], ['through'], ['up']])
})

test('a fork joins the lane of the checkpoint it was made from', () => {
  const rows = [row('d', 'd', 1), row('c', 'a', 0), row('b', 'a', 0), row('a', 'a', 0)]
  const lines = laneLines(rows, [branch('a', 0, 'c', null), branch('d', 1, 'd', 'a')])
  expect(lines[0]).toEqual([{ lane: 1, part: 'down', to: 1 }])
  expect(lines[3]).toContainEqual({ lane: 1, part: 'join', to: 0 })
})

test('a branch whose older rows are not loaded runs on to the bottom', () => {
  const lines = laneLines([row('c', 'a', 0), row('b', 'a', 0)], [branch('a', 0, 'c', null)])
  expect(lines.map(parts => parts.map(line => line.part))).toEqual([['down'], ['through']])
})
