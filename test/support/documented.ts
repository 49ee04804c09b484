import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './root.ts'

type Fence = { readonly language: string; readonly text: string }

/** Text of a document of the project, or of one section of it, up to the next heading of the same depth. */
export function documented(path: string, section?: string): string {
  const text = readFileSync(join(ROOT, path), 'utf8')
  if (section === undefined) return text
  const from = text.indexOf(`\n${section}\n`)
  if (from < 0) throw new Error(`${path} has no section '${section}'.`)
  const depth = section.indexOf(' ')
  const to = text.indexOf(`\n${section.slice(0, depth)} `, from + 1)
  return text.slice(from, to < 0 ? undefined : to)
}

/** The fenced blocks in order. Indented ones are left out. */
export const fences = (text: string): readonly Fence[] =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', inner = '']) => ({
    language,
    text: inner,
  }))

/** The lines of a block. In a shell block each line is one command. */
export const commandsIn = ({ text }: Fence): readonly string[] => text.split('\n').filter(line => line !== '')
