import type { Published } from '#store/port.ts'
import { sendBulk } from '../client/bulk.ts'
import { type BulkItem, versionedItem } from '../client/bulk-item.ts'
import { forceVersion } from '../client/force-version.ts'
import { publishedDoc } from '../schema/checkpoint.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'
import type { Cluster } from '../schema/cluster.ts'
import type { Names } from '../schema/names.ts'

type Ended = Checkpoint & { readonly end: Published }

/** Publishes a checkpoint to readers. A later one stays published. */
export async function publish(cluster: Cluster, checkpoint: Ended): Promise<void> {
  await sendBulk(cluster, [toItem(cluster.names, checkpoint).item])
}

/** Like `publish`, also if the record was deleted a moment ago or has a later version. */
export async function forcePublish(cluster: Cluster, checkpoint: Ended): Promise<void> {
  const { item, version } = toItem(cluster.names, checkpoint)
  await sendBulk(cluster, [item])
  await forceVersion(cluster, [item], version)
}

function toItem(names: Names, checkpoint: Ended): { readonly item: BulkItem; readonly version: number } {
  const { end, batch, partitions, generations, epoch, mending, inventory } = checkpoint
  const { id, version, source } = publishedDoc({ end, batch, partitions, generations, epoch, mending, inventory })
  return { item: versionedItem({ index: names.meta, id }, version, source), version }
}
