import { expect, test } from 'bun:test'
import { HostChoice } from './host-health.ts'

function open(hosts: readonly string[]) {
  const clock = { now: 0 }
  const choice = new HostChoice(hosts, () => clock.now)
  return {
    clock,
    choice,
    six: () =>
      Array.from({ length: 6 }, () => choice.next())
        .toSorted()
        .join(''),
  }
}

test('hostChoice: hosts take turns without the silent ones, or all of them if all are silent', () => {
  const { choice, six } = open(['a', 'b', 'c'])
  expect(six()).toBe('aabbcc')
  choice.noteSilent('b')
  expect([six(), choice.usable()]).toEqual(['aaaccc', ['a', 'c']])
  choice.noteSilent('a')
  expect(six()).toBe('cccccc')
  choice.noteSilent('c')
  expect(six()).toBe('aabbcc')
  choice.noteResponsive('b')
  expect(six()).toBe('bbbbbb')
})

test('hostChoice: a single host is always used', () => {
  const { choice, six } = open(['a'])
  choice.noteSilent('a')
  expect([six(), choice.next('a')]).toEqual(['aaaaaa', 'a'])
})

test('hostChoice: a host for which others had to help is doubted, only one at a time and never all', () => {
  const { choice, clock, six } = open(['a', 'b', 'c'])
  choice.noteFasterWithout('a')
  clock.now = 60_000
  choice.noteFasterWithout('a')
  expect(six()).toBe('aabbcc')
  choice.noteFasterWithout('a')
  expect([six(), choice.doubted]).toEqual(['bbbccc', 'a'])
  choice.noteFasterWithout('b')
  choice.noteFasterWithout('b')
  expect([six(), choice.doubted]).toEqual(['aaaccc', 'b'])
  choice.noteSilent('a')
  choice.noteSilent('c')
  expect([six(), choice.next('b')]).toEqual(['bbbbbb', 'b'])
  choice.noteResponsive('a')
  choice.clearDoubt()
  expect(six()).toBe('aaabbb')
})

test('hostChoice: without a suspect, the doubted host is used like any other', () => {
  const { choice } = open(['a', 'b', 'c'])
  choice.noteFasterWithout('a')
  choice.noteFasterWithout('a')
  expect([choice.usable('c'), choice.usable()]).toEqual([
    ['a', 'b'],
    ['b', 'c'],
  ])
})

test('hostChoice: the choice shows when other hosts are usable', () => {
  const { choice } = open(['a', 'b'])
  const seen = [choice.changes]
  for (const change of ['noteSilent', 'noteSilent', 'noteResponsive', 'noteResponsive'] as const) {
    choice[change]('a')
    seen.push(choice.changes)
  }
  expect(seen).toEqual([0, 1, 1, 2, 2])
})
