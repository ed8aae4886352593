// The call tree of tree.c.
const std = @import("std");

noinline fn leaf(seed: u64) u64 {
    var text: [512]u8 = undefined;
    var sum: u64 = 0;
    var i: usize = 0;
    while (i < 200) : (i += 1) {
        @memset(&text, @truncate(seed +% i));
        std.mem.doNotOptimizeAway(&text);
        sum = (sum +% text[i]) *% 0x9e3779b97f4a7c15 ^ sum >> 29;
    }
    return sum;
}

noinline fn left(seed: u64) u64 {
    return leaf(seed) +% 1;
}

noinline fn right(seed: u64) u64 {
    return leaf(seed ^ 5) +% 2;
}

noinline fn outer(seed: u64) u64 {
    return if (seed % 2 == 1) left(seed) +% 3 else right(seed) +% 4;
}

fn run(rounds: u64) void {
    var sum: u64 = 0;
    var i: u64 = 0;
    while (i < rounds) : (i += 1) sum +%= outer(sum +% i);
    std.mem.doNotOptimizeAway(sum);
}

pub fn main() !void {
    const other = try std.Thread.spawn(.{}, run, .{400_000});
    run(400_000);
    other.join();
}
