import { expect, test } from 'bun:test'
import { hostChoice } from './host-choice.ts'

const open = (hosts: readonly string[]) => {
  const clock = { now: 0 }
  const choice = hostChoice(hosts, () => clock.now)
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
  choice.silence('b')
  expect([six(), choice.usable()]).toEqual(['aaaccc', ['a', 'c']])
  choice.silence('a')
  expect(six()).toBe('cccccc')
  choice.silence('c')
  expect(six()).toBe('aabbcc')
  choice.heard('b')
  expect(six()).toBe('bbbbbb')
})

test('hostChoice: a single host is always used', () => {
  const { choice, six } = open(['a'])
  choice.silence('a')
  expect([six(), choice.next('a')]).toEqual(['aaaaaa', 'a'])
})

test('hostChoice: a host for which others had to help is doubted, only one at a time and never all', () => {
  const { choice, clock, six } = open(['a', 'b', 'c'])
  choice.helpedWithout('a')
  clock.now = 60_000
  choice.helpedWithout('a')
  expect(six()).toBe('aabbcc')
  choice.helpedWithout('a')
  expect([six(), choice.doubted]).toEqual(['bbbccc', 'a'])
  choice.helpedWithout('b')
  choice.helpedWithout('b')
  expect([six(), choice.doubted]).toEqual(['aaaccc', 'b'])
  choice.silence('a')
  choice.silence('c')
  expect([six(), choice.next('b')]).toEqual(['bbbbbb', 'b'])
  choice.heard('a')
  choice.trust()
  expect(six()).toBe('aaabbb')
})

test('hostChoice: without a suspect, the doubted host is used like any other', () => {
  const { choice } = open(['a', 'b', 'c'])
  choice.helpedWithout('a')
  choice.helpedWithout('a')
  expect([choice.usable('c'), choice.usable()]).toEqual([
    ['a', 'b'],
    ['b', 'c'],
  ])
})

test('hostChoice: the choice shows when other hosts are usable', () => {
  const { choice } = open(['a', 'b'])
  const seen = [choice.changes]
  for (const change of [choice.silence, choice.silence, choice.heard, choice.heard]) {
    change('a')
    seen.push(choice.changes)
  }
  expect(seen).toEqual([0, 1, 1, 2, 2])
})
