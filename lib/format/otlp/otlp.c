#include "format/otlp/otlp.h"

#include "base/alloc.h"
#include "base/counting_sort.h"
#include "base/hash.h"
#include "format/otlp/dictionary.h"
#include "format/otlp/fields.h"
#include "format/pprof/sample_type.h"

#include <stdlib.h>

struct encoder {
	const struct profile *profile;
	struct otlp_dictionary dictionary;
	struct wire_message *attributes;  /* by label set: a packed list, made on first use */
	uint32_t *timed, *first_timed;	  /* timed samples by aggregated sample */
	struct wire_message sample, list; /* scratch */
};

static uint32_t sample_of_timed(const void *context, uint32_t index)
{
	return profile_timed_samples(context).items[index].sample;
}

static void encoder_init(struct encoder *encoder, const struct profile *profile,
			 enum name_style names)
{
	*encoder = (struct encoder){
		.profile = profile,
		.attributes = xcalloc(profile_label_set_count(profile),
				      sizeof(*encoder->attributes)),
	};
	encoder->timed = counting_sort((uint32_t)profile_timed_samples(profile).count,
				       (uint32_t)profile_samples(profile).count, sample_of_timed,
				       profile, &encoder->first_timed);
	otlp_dictionary_init(&encoder->dictionary, profile, names);
}

static void encoder_deinit(struct encoder *encoder)
{
	for (label_set_id i = 0; i < profile_label_set_count(encoder->profile); i++)
		free(encoder->attributes[i].bytes);
	free(encoder->attributes);
	free(encoder->timed);
	free(encoder->first_timed);
	free(encoder->sample.bytes);
	free(encoder->list.bytes);
	otlp_dictionary_deinit(&encoder->dictionary);
}

static void otlp_add_text(struct encoder *encoder, struct wire_message *list, const char *key,
			  string_id text)
{
	if (text)
		wire_put_varint(list, otlp_text_attribute(&encoder->dictionary, key,
							  profile_string(encoder->profile, text)));
}

static void otlp_add_id(struct encoder *encoder, struct wire_message *list, const char *key,
			pid_t id)
{
	if (id >= 0)
		wire_put_varint(list, otlp_number_attribute(&encoder->dictionary, key, id, ""));
}

static void otlp_add_label(struct encoder *encoder, struct wire_message *list,
			   const struct profile_label *label)
{
	const char *key = profile_string(encoder->profile, label->key);
	const char *unit = profile_string(encoder->profile, label->unit);

	if (label->text)
		otlp_add_text(encoder, list, key, label->text);
	else
		wire_put_varint(list, otlp_number_attribute(&encoder->dictionary, key,
							    label->number, unit));
}

static const struct wire_message *otlp_attributes_of(struct encoder *encoder, label_set_id id)
{
	const struct profile_label_set *set = profile_get_label_set(encoder->profile, id);
	const struct profile_thread *thread = profile_get_thread(encoder->profile, set->thread);
	struct wire_message *list = &encoder->attributes[id];

	if (list->len)
		return list;
	otlp_add_id(encoder, list, "process.pid", thread->pid);
	otlp_add_text(encoder, list, "process.executable.name", thread->process);
	otlp_add_id(encoder, list, "thread.id", thread->tid);
	otlp_add_text(encoder, list, "thread.name", thread->name);
	for (uint32_t i = 0; i < set->count; i++)
		otlp_add_label(encoder, list, &set->labels[i]);
	return list;
}

/*
 * Divides the weight into as many parts as the sample has times. The first part
 * gets the remainder.
 */
static void otlp_put_values(struct encoder *encoder, uint64_t weight, uint32_t times)
{
	uint32_t count = times ? times : 1;

	encoder->list.len = 0;
	wire_put_varint(&encoder->list, weight / count + weight % count);
	for (uint32_t i = 1; i < count; i++)
		wire_put_varint(&encoder->list, weight / count);
	wire_put_message(&encoder->sample, OTLP_SAMPLE_VALUES, &encoder->list);
}

static void otlp_put_times(struct encoder *encoder, uint64_t index, uint32_t times)
{
	const struct profile_timed_sample *timed = profile_timed_samples(encoder->profile).items;
	const struct profile_info *info = profile_get_info(encoder->profile);

	encoder->list.len = 0;
	for (uint32_t i = 0; i < times; i++) {
		uint64_t at = timed[encoder->timed[encoder->first_timed[index] + i]].time_ns;
		uint64_t unix_ns = info->start_unix_ns + (at - info->start_ns);

		wire_append(&encoder->list, &unix_ns, sizeof(unix_ns));
	}
	if (times)
		wire_put_message(&encoder->sample, OTLP_SAMPLE_TIMESTAMPS, &encoder->list);
}

static void otlp_put_sample(struct encoder *encoder, uint64_t index, struct wire_message *into)
{
	const struct profile_sample *sample = &profile_samples(encoder->profile).items[index];
	const struct wire_message *attributes = otlp_attributes_of(encoder, sample->labels);
	uint32_t times = encoder->first_timed[index + 1] - encoder->first_timed[index];

	encoder->sample.len = 0;
	wire_put_number(&encoder->sample, OTLP_SAMPLE_STACK,
			otlp_stack(&encoder->dictionary, sample->stack));
	if (attributes->len)
		wire_put_message(&encoder->sample, OTLP_SAMPLE_ATTRIBUTES, attributes);
	otlp_put_values(encoder, sample->weight, times);
	otlp_put_times(encoder, index, times);
	wire_put_message(into, OTLP_PROFILE_SAMPLE, &encoder->sample);
}

static void otlp_put_type(struct encoder *encoder, uint32_t field, event_id event,
			  struct wire_message *into)
{
	struct wire_message *type = &encoder->sample;
	const struct profile *profile = encoder->profile;

	type->len = 0;
	wire_put_number(type, OTLP_TYPE_TYPE,
			otlp_string(&encoder->dictionary, pprof_type_name(profile, event)));
	wire_put_number(type, OTLP_TYPE_UNIT,
			otlp_string(&encoder->dictionary, profile_event_unit(profile, event)));
	wire_put_message(into, field, type);
}

/* Writes everything except the id. */
static void otlp_put_profile(struct encoder *encoder, event_id event, struct wire_message *into)
{
	const struct profile_samples samples = profile_samples(encoder->profile);
	const struct profile_info *info = profile_get_info(encoder->profile);

	otlp_put_type(encoder, OTLP_PROFILE_SAMPLE_TYPE, event, into);
	for (uint64_t i = 0; i < samples.count; i++)
		if (samples.items[i].event == event && samples.items[i].weight)
			otlp_put_sample(encoder, i, into);
	wire_put_fixed64(into, OTLP_PROFILE_TIME, info->start_unix_ns);
	wire_put_number(into, OTLP_PROFILE_DURATION, info->duration_ns);
	otlp_put_type(encoder, OTLP_PROFILE_PERIOD_TYPE, event, into);
	wire_put_number(into, OTLP_PROFILE_PERIOD, pprof_type_period(encoder->profile, event));
}

/* The parts of a request, before they are assembled. */
struct otlp_parts {
	struct wire_message resource, tables;
	struct wire_message *profiles; /* by event */
	uint32_t count;
};

static void make_parts(struct encoder *encoder, const struct otlp_options *options,
		       struct otlp_parts *parts)
{
	uint32_t count = profile_event_count(encoder->profile);

	*parts = (struct otlp_parts){.profiles = xcalloc(count, sizeof(*parts->profiles)),
				     .count = count};
	for (size_t i = 0; i < options->resource_count; i++)
		otlp_put_key_value(&parts->resource, OTLP_RESOURCE_ATTRIBUTE,
				   options->resource[i].key, options->resource[i].text);
	for (event_id i = 0; i < count; i++)
		otlp_put_profile(encoder, i, &parts->profiles[i]);
	otlp_dictionary_put(&encoder->dictionary, &parts->tables);
}

static void otlp_parts_deinit(struct otlp_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++)
		free(parts->profiles[i].bytes);
	free(parts->profiles);
	free(parts->resource.bytes);
	free(parts->tables.bytes);
}

static uint64_t otlp_hash_of(const struct wire_message *message)
{
	return hash_bytes_wide(message->bytes, message->len);
}

/*
 * The id has 16 bytes, which are not all zero. It is a hash of the whole
 * content, including the tables that the indexes refer to.
 */
static void put_id(const struct otlp_parts *parts, struct wire_message *profile)
{
	uint64_t id[2];

	id[0] = hash_mix(otlp_hash_of(profile), otlp_hash_of(&parts->tables)) | 1;
	id[1] = hash_mix(id[0], otlp_hash_of(&parts->resource));
	wire_put_bytes(profile, OTLP_PROFILE_ID, id, sizeof(id));
}

static void put_scope_profiles(const struct otlp_parts *parts, struct wire_message *into)
{
	static const char name[] = "prof";
	struct wire_message scope_profiles = {0}, scope = {0};

	wire_put_bytes(&scope, OTLP_SCOPE_NAME, name, sizeof(name) - 1);
	wire_put_message(&scope_profiles, OTLP_SCOPE_SCOPE, &scope);
	for (event_id i = 0; i < parts->count; i++) {
		put_id(parts, &parts->profiles[i]);
		wire_put_message(&scope_profiles, OTLP_SCOPE_PROFILE, &parts->profiles[i]);
	}
	wire_put_message(into, OTLP_RESOURCE_SCOPE_PROFILES, &scope_profiles);
	free(scope_profiles.bytes);
	free(scope.bytes);
}

static void put_resource_profiles(const struct otlp_parts *parts, struct wire_message *into)
{
	struct wire_message resource_profiles = {0};

	wire_put_message(&resource_profiles, OTLP_RESOURCE_RESOURCE, &parts->resource);
	put_scope_profiles(parts, &resource_profiles);
	wire_put_message(into, OTLP_REQUEST_RESOURCE_PROFILES, &resource_profiles);
	free(resource_profiles.bytes);
}

struct error *otlp_encode(const struct profile *profile, const struct otlp_options *options,
			  struct wire_message *into)
{
	struct encoder encoder;
	struct otlp_parts parts;

	if (!pprof_values_fit(profile))
		return error_new("OTLP profiles cannot hold counts of 2^63 or more");
	encoder_init(&encoder, profile, options->names);
	make_parts(&encoder, options, &parts);
	put_resource_profiles(&parts, into);
	wire_put_message(into, OTLP_REQUEST_DICTIONARY, &parts.tables);
	otlp_parts_deinit(&parts);
	encoder_deinit(&encoder);
	return NULL;
}
