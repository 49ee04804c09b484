import { expect, test } from 'bun:test'
import { collector } from './collect.ts'

const MB = 1_000_000

/** Memory that grows by `grows` before each call, and that a collection reduces to `lives`. */
const simulated = (lives: number, grows: number) => {
  let resident = 0
  let collections = 0
  const collect = collector({
    resident: () => resident,
    collect: () => {
      resident = Math.min(resident, lives)
      collections++
    },
  })
  return (calls: number) => {
    let most = 0
    for (let call = 0; call < calls; call++) {
      resident += grows
      collect(1_000)
      most = Math.max(most, resident)
    }
    return { most: most / MB, collections }
  }
}

test('collector: looks once for a thousand documents', () => {
  let looks = 0
  const collect = collector({ resident: () => looks++, collect: () => undefined })
  for (let document = 0; document < 5_500; document++) collect(1)
  expect(looks).toBe(5)
})

test('collector: leaves a small process alone', () => {
  expect(simulated(0, MB)(190)).toEqual({ most: 190, collections: 0 })
})

test('collector: keeps garbage within bounds, however much comes', () => {
  const { most, collections } = simulated(100 * MB, MB)(100_000)
  expect(most).toBeLessThan(250)
  expect(collections).toBeGreaterThan(500)
})

test('collector: where nearly all is alive it does not collect each time', () => {
  const { collections } = simulated(1_000 * MB, MB)(1_000)
  expect(collections).toBeLessThan(30)
})
