import { describe } from 'bun:test'
import { commitCases } from './commit.ts'
import { createCases } from './create.ts'
import { documentCases } from './documents.ts'
import type { Open } from './harness.ts'
import { heldCases } from './held.ts'
import { keyCases } from './keys.ts'
import { listCases } from './lists.ts'
import { nameCases } from './names.ts'
import { orderCases } from './orders.ts'
import { rankingCases } from './rankings.ts'
import { takeOverCases } from './takeover.ts'
import { usageCases } from './usage.ts'
import { viewCases } from './views.ts'

export type { Open } from './harness.ts'

/** The conformance suite of the store port. `open` returns an empty store each time. */
export function storeSuite(name: string, open: Open): void {
  describe(`${name}: create`, () => createCases(open))
  describe(`${name}: takeOver`, () => takeOverCases(open))
  describe(`${name}: commit`, () => commitCases(open))
  describe(`${name}: documents`, () => documentCases(open))
  describe(`${name}: orders`, () => orderCases(open))
  describe(`${name}: names`, () => nameCases(open))
  describe(`${name}: rankings`, () => rankingCases(open))
  describe(`${name}: lists`, () => listCases(open))
  describe(`${name}: views`, () => viewCases(open))
  describe(`${name}: held views`, () => heldCases(open))
  describe(`${name}: keys`, () => keyCases(open))
  describe(`${name}: usage`, () => usageCases(open))
}
