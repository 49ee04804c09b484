import { expect, test } from 'bun:test'
import type { Visit } from '../page.ts'
import { Owner } from './name.tsx'

// Only the fields that a name needs.
const visit = { root: './', home: './', lang: 'en', site: { labels: new Map() } } as unknown as Visit

test.each(['alice00', 'vote.iost', '0'])('owner: %s leads to its page', async id => {
  expect(await Owner({ visit, id })).toContain('href=')
})

test.each(['a/b', '<i>', '#', 'x'.repeat(62)])('owner: "%s" may have tokens, but no page', async id => {
  const html = await Owner({ visit, id })
  expect(html).not.toContain('href=')
  expect(html).not.toContain('<i>')
  expect(html.replaceAll(/<[^>]*>/g, '').trim()).not.toBe('')
})
