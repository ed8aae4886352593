#include "cmd/diff/diff_page.h"

#include "base/alloc.h"
#include "base/humanize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns "old: 1.84 s per recording, 9,289 samples, bo1.pb.gz and 4 more". */
static char *diff_page_side(const struct diff_report *report, bool is_old)
{
	const struct diff *diff = report->diff;
	const struct option_list *files = is_old ? report->old : report->new;
	size_t first = is_old ? 0 : report->old->count;
	bool is_sum = report->options->kind == COMPARE_SHARES;
	double samples = 0;
	CLEANUP(free_ptr) char *more = NULL;

	for (size_t i = 0; i < files->count; i++)
		samples += diff->wholes[first + i].samples;
	more = files->count > 1 ? xasprintf(" and %zu more", files->count - 1) : xstrdup("");
	return xasprintf("%s: %s%s, %s samples, %s%s", is_old ? "old" : "new",
			 diff_humanize(report->kind, report->unit,
				       is_old ? diff->old_weight : diff->new_weight)
				 .text,
			 report->is_per_iteration ? " per iteration"
			 : is_sum		  ? ""
						  : " per recording",
			 humanize_count((uint64_t)llround(samples)).text, basename(files->items[0]),
			 more);
}

void diff_page_init(struct diff_page *page, const struct diff_report *report)
{
	bool of_shares = report->options->kind == COMPARE_SHARES;
	size_t old = report->old->count, new = report->new->count;
	CLEANUP(free_ptr) char *old_side = diff_page_side(report, true);
	CLEANUP(free_ptr) char *new_side = diff_page_side(report, false);

	page->verdict = diff_verdict_line(report);
	page->causes = diff_causes(report);
	page->sides = xasprintf("%s\n%s", old_side, new_side);
	page->uncertainty = diff_uncertainty(report);
	page->of = xasprintf("%s %s", of_shares ? "each side's" : "old's", report->quantity);
	page->comparison = (struct page_comparison){
		.diff = report->diff,
		.verdict = page->verdict,
		.causes = page->causes,
		.sides = page->sides,
		.uncertainty = page->uncertainty,
		.of = page->of,
		.recordings = (uint32_t)(of_shares   ? 1
					 : old > new ? old
						     : new),
	};
}

void diff_page_deinit(struct diff_page *page)
{
	free(page->verdict);
	free(page->causes);
	free(page->sides);
	free(page->uncertainty);
	free(page->of);
}
