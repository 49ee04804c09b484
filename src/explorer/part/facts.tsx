/** @jsxImportSource @kitajs/html */
import type { Html } from '../page.ts'

/** A fact of a thing: what it is called, and what it is. */
export type Fact = readonly [name: string, value: Html]

/** The facts of a thing, a line each. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }): Html => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div>
        <dt safe>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

/** Figures that stand out, side by side. */
export const Figures = ({ facts }: { readonly facts: readonly Fact[] }): Html => (
  <dl class="figures">
    {facts.map(([name, value]) => (
      <div>
        <dt safe>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
