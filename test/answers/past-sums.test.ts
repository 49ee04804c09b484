import { SOAK } from '../support/processes/soak.ts'
import { pastSums } from './past-sums.ts'

pastSums({ count: SOAK ? 12 : 3, every: 1 })
