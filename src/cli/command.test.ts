import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Failure } from '#failure/failure.ts'
import { toExitCode } from './command.ts'

test('exit codes: the code shows the cause and whether a retry can help', () => {
  expect([
    toExitCode(new Failure('usage', 'x')),
    toExitCode(new Failure('not_found', 'x')),
    toExitCode(new Failure('conflict', 'x')),
    toExitCode(new Failure('bad_block', 'x')),
    toExitCode(new Failure('defect', 'x')),
    toExitCode(new TypeError('x')),
    toExitCode('x'),
  ]).toEqual([2, 2, 3, 3, 1, 1, 1])
})

test('exit codes: the code is 75 exactly for temporary failures', () => {
  expect([
    toExitCode(new Failure('unavailable', 'x')),
    toExitCode(new Failure('loading', 'x')),
    toExitCode(new Failure('conflict', 'x', { retryable: true })),
    toExitCode(new Failure('unavailable', 'x', { retryable: false })),
    toExitCode(new Failure('damaged', 'x')),
  ]).toEqual([75, 75, 75, 2, 3])
})

test('exit codes: an error of the system is one of the operator if it is about a file, else it passes', () => {
  const thrownBy = (work: () => unknown): unknown => {
    try {
      return work()
    } catch (error) {
      return error
    }
  }
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  expect([
    toExitCode(thrownBy(() => readFileSync('/nowhere/at/all'))),
    toExitCode(thrownBy(() => readFileSync('/'))),
    toExitCode(full),
  ]).toEqual([2, 2, 75])
})
