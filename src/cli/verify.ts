import { auditStore, outcomeJson, outcomeLines } from './auditing.ts'
import type { Command } from './command.ts'
import { openStore, requireUsable } from './compose.ts'
import { LOGGING, NODE, STORE } from './setting-groups.ts'

export const verify: Command = {
  name: 'verify',
  words: [],
  summary: 'audit everything stored against a replay, and against a node; code 3 when something differs',
  about:
    'Derives everything anew from the stored blocks and transactions (each checked by its parent, its merkle roots and its own hash) into a temporary file in the data folder, and compares it with every stored document and with every row of every list. Prints one line for each difference, at most 20 of a kind, and their totals. With --node a sample of blocks is compared with the node, and every balance, vote and account when the node is at the same block; blocks that can not be right are then taken from it. Without a node the text of actions is believed: receipts are under a merkle root and so are the hashes of transactions, but no node tells the signatures that are hashed along with an action; where its text was changed, it shows only in rows that differ from it. A loader may go on meanwhile. Ends with 3 when something differs, with 75 when store or node is away.',
  settings: [...NODE, ...STORE, 'sample', 'json', ...LOGGING],
  examples: [
    'iostlens verify',
    'iostlens verify --node http://127.0.0.1:30001 --sample 100000',
    'iostlens verify --json --store http://127.0.0.1:9200/iostlens',
  ],
  run: async call => {
    const { values, log, out } = call
    const store = openStore(values, log)
    try {
      await requireUsable(store)
      const outcome = await auditStore(call, store)
      const { count } = outcome.found
      if (values.json) out(outcomeJson(store, outcome, {}))
      else for (const line of outcomeLines(store, outcome, endOf(count))) out(line)
      return count === 0 ? 0 : 3
    } finally {
      await store.close()
    }
  },
}

const endOf = (count: number): string => (count === 0 ? 'whole' : `NOT WHOLE, ${count} differences`)
