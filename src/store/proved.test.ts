import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { PROOF_LEVELS, type ProofLevel } from '#chain/block.ts'
import { findProof, NOTHING_PROVED, type ProofRecord, trimProofs, withProofs } from './published.ts'

const run = (from: number, levels: readonly ProofLevel[], agreed = false) => ({
  ...{ from, agreed },
  proofs: levels.map(level => ({ level })),
})

test('withProofs: reloaded blocks replace their records, and lost receipts add up', () => {
  const proofs = Array(10).fill({ level: 'whole', lost: 2 })
  const first = withProofs(NOTHING_PROVED, { from: 0, proofs: proofs.slice(0, 7), agreed: true })
  const before = withProofs(first, { from: 7, proofs: proofs.slice(7), agreed: true })
  expect(before).toEqual(withProofs(NOTHING_PROVED, { from: 0, proofs, agreed: true }))
  const after = withProofs(before, { from: 5, proofs: [{ level: 'linked', lost: 1 }], agreed: false })
  expect(after).toEqual({
    ranges: [
      { from: 0, to: 4, level: 'whole', agreed: true },
      { from: 5, to: 5, level: 'linked' },
    ],
    lost: 21,
    formerKeys: [],
  })
  expect(findProof(after, 4)?.level).toBe('whole')
  expect(findProof(after, 6)).toBeUndefined()
  expect(trimProofs(after, 5).ranges).toEqual([{ from: 0, to: 4, level: 'whole', agreed: true }])
})

test('withProofs: the number of ranges is limited, and none claims more than was proved', () => {
  const level = fc.constantFrom(...PROOF_LEVELS)
  fc.assert(
    fc.property(fc.array(fc.tuple(level, fc.boolean()), { maxLength: 300 }), blocks => {
      const record = blocks.reduce<ProofRecord>(
        (proved, [each, agreed], height) => withProofs(proved, run(height, [each], agreed)),
        NOTHING_PROVED,
      )
      expect(record.ranges.length).toBeLessThanOrEqual(64)
      blocks.forEach(([proved, agreed], height) => {
        const range = findProof(record, height)
        expect(PROOF_LEVELS.indexOf(range?.level ?? 'linked')).toBeLessThanOrEqual(PROOF_LEVELS.indexOf(proved))
        expect(range?.agreed === true && !agreed).toBe(false)
      })
      expect(record.ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)).toBe(blocks.length)
    }),
    { numRuns: 20 },
  )
})
