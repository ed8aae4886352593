-- The call tree of tree.c; and maps, laziness and the collector.
module Main where

import Data.Bits
import qualified Data.Map.Strict as Map
import Data.Word

leaf :: Word64 -> Word64
leaf seed = go 0 seed
  where
    go :: Int -> Word64 -> Word64
    go 3000 sum = sum
    go i sum = go (i + 1) ((sum + fromIntegral i) * 0x9e3779b97f4a7c15 `xor` (sum `shiftR` 29))
{-# NOINLINE leaf #-}

left, right, outer :: Word64 -> Word64
left seed = leaf seed + 1
right seed = leaf (seed + 5) + 2
outer seed = if odd seed then left seed + 3 else right seed + 4
{-# NOINLINE left #-}
{-# NOINLINE right #-}
{-# NOINLINE outer #-}

table :: Int -> Map.Map Word64 Int
table n = Map.fromListWith (+) [(outer (fromIntegral i) `mod` 1000, i) | i <- [1 .. n]]
{-# NOINLINE table #-}

main :: IO ()
main = do
  let counted = [Map.size (table (200 + n)) | n <- [1 .. 2000]]
  print (sum counted)
  print (length (show (product [1 .. 20000 :: Integer])))
