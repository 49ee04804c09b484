import { auditStore, type Outcome, outcomeJson, outcomeLines } from './auditing.ts'
import type { Command } from './command.ts'
import { requireExisting, requireUsable, withStore } from './compose.ts'
import { LOGGING, NODE, STORE } from './settings.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'audit the store against a replay and a node; exit code 3 if anything differs',
  about: [
    'Derives everything again from the stored blocks and transactions, into a temporary file in the data folder, and compares the result with every stored document and with every row of every list. Each block is checked first: its parent hash, its merkle roots and its own hash.',
    'Prints one line per difference, at most 20 of a kind, and the totals.',
    "With --node, a sample of blocks is compared with the node, and all balances, votes and accounts if the node is at the same block. Stored blocks that fail a check are then replaced by the node's, for the audit only.",
    'Without --node, the text of actions cannot be checked: its hash includes signatures that nodes do not return. A changed text is found only where rows differ from it.',
    'A loader may run meanwhile. Ends with exit code 3 if anything differs, and with 75 if the store or the node is unreachable.',
  ],
  settings: [...NODE, ...STORE, 'sample', 'json', ...LOGGING],
  examples: [
    'iostlens verify',
    'iostlens verify --node http://127.0.0.1:30001 --sample 100000',
    'iostlens verify --json --store http://127.0.0.1:9200/iostlens',
  ],
  run: async call => {
    const { values, log, out } = call
    return withStore(values, log, async store => {
      await requireExisting(store)
      await requireUsable(store)
      const outcome = await auditStore(call, store)
      const { count } = outcome.found
      if (values.json) out(outcomeJson(store, outcome, {}))
      else for (const line of outcomeLines(store, outcome, formatSummary(outcome, values.node))) out(line)
      return count === 0 ? 0 : 3
    })
  },
}

function formatSummary({ audited, found }: Outcome, nodes: readonly string[] | undefined): string {
  if (found.count === 0) return 'whole'
  // Lost or wrong blocks, and data outside of the blocks, can only come from a node.
  const asksNode = nodes !== undefined || !audited.complete || found.beyondRepair > 0
  const repair = asksNode ? `iostlens repair --node ${nodes?.join(',') ?? 'URL'}` : 'iostlens repair'
  return `NOT WHOLE, ${found.count} differences. Run: '${repair}'`
}
