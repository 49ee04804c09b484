import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import { exitCodeFor } from './exit-code.ts'

test('exitCodeFor: the code shows the cause and whether a retry can help', () => {
  expect([
    exitCodeFor(new Failure('usage', 'x')),
    exitCodeFor(new Failure('not_found', 'x')),
    exitCodeFor(new Failure('conflict', 'x')),
    exitCodeFor(new Failure('bad_block', 'x')),
    exitCodeFor(new Failure('defect', 'x')),
    exitCodeFor(new TypeError('x')),
    exitCodeFor('x'),
  ]).toEqual([2, 2, 3, 3, 1, 1, 1])
})

test('exitCodeFor: the code is 75 exactly for temporary failures', () => {
  expect([
    exitCodeFor(new Failure('unavailable', 'x')),
    exitCodeFor(new Failure('loading', 'x')),
    exitCodeFor(new Failure('conflict', 'x', { retryable: true })),
    exitCodeFor(new Failure('unavailable', 'x', { retryable: false })),
    exitCodeFor(new Failure('damaged', 'x')),
  ]).toEqual([75, 75, 75, 2, 3])
})

test('exitCodeFor: an error of the system is one of the operator if it is about a file, else it passes', () => {
  const thrownBy = (work: () => unknown): unknown => {
    try {
      return work()
    } catch (error) {
      return error
    }
  }
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  expect([
    exitCodeFor(thrownBy(() => readFileSync('/nowhere/at/all'))),
    exitCodeFor(thrownBy(() => readFileSync('/'))),
    exitCodeFor(full),
  ]).toEqual([2, 2, 75])
})
