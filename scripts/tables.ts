import { actions } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import { environmentName, settingNames, settings } from '#cli/settings.ts'

/** A table in a document that is generated from a registry; it is between two comments with its name. */
type Table = {
  /** Path of the document from the project's root. */
  readonly document: string
  readonly name: string
  /** The heading, then the rows, each with its cells. */
  readonly rows: () => readonly (readonly string[])[]
}

export const tables: readonly Table[] = [
  {
    document: 'docs/api.md',
    name: 'actions',
    rows: () => [
      ['module', 'action', 'parameters', 'answers'],
      ...actions.map(({ module, action, params, title }) => [
        module,
        action,
        listParameters(params)
          .map(({ name, required }) => (required ? `**${name}**` : name))
          .join(', '),
        title.en,
      ]),
    ],
  },
  {
    document: 'docs/settings.md',
    name: 'settings',
    rows: () => [
      ['flag', 'variable', 'default', 'what'],
      ...settingNames.map(name => {
        const { about, fallback, secret } = settings[name]
        const flag = secret === 'private' ? `--${name}-file` : `--${name}`
        return [`\`${flag}\``, `\`${environmentName(name)}\``, fallback ?? '', about.replaceAll('|', '\\|')]
      }),
    ],
  },
]

const textOf = ([heading = [], ...rows]: readonly (readonly string[])[]): string =>
  [heading, heading.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

/** The text of a document with its table generated again. Throws when the comments around the table are missing. */
export function withTable({ document, name, rows }: Table, text: string): string {
  const [begin, end] = [`<!-- ${name}: made by scripts/generate.ts -->\n`, `<!-- /${name} -->`]
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${document} has no section between ${begin.trim()} and ${end}.`)
  return `${text.slice(0, from + begin.length)}${textOf(rows())}\n${text.slice(to)}`
}
