/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'

/** A fact of a thing: its name and its value. */
export type Fact = readonly [name: string, value: Html]

type FactsProps = { readonly facts: readonly Fact[] }

/** The facts of a thing, one per line. */
export const Facts = ({ facts }: FactsProps): Html => <List kind="facts" facts={facts} />

/** Prominent figures, side by side. */
export const Figures = ({ facts }: FactsProps): Html => <List kind="figures" facts={facts} />

const List = ({ kind, facts }: FactsProps & { readonly kind: 'facts' | 'figures' }): Html => (
  <dl class={kind}>
    {facts.map(([name, value]) => (
      <div>
        <dt safe>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
