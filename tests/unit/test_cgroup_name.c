#include "proc/cgroup_name.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <stdint.h>
#include <string.h>

#define ID "4f1c0a2b9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a"
#define SHORT "4f1c0a2b9d8e"
#define OTHER_ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "pod0b1c2d3e_4f5a_6b7c_8d9e_0f1a2b3c4d5e"
#define POD_DASHES "pod0b1c2d3e-4f5a-6b7c-8d9e-0f1a2b3c4d5e"

/* The innermost name in a path and its kind, or NULL. */
static const struct {
	const char *path, *name;
} known[] = {
	/* docker, by systemd and by itself; its containers' own systemd; docker in docker */
	{"/system.slice/docker-" ID ".scope", SHORT},
	{"/docker/" ID, SHORT},
	{"/docker/" ID "/system.slice/nginx.service", SHORT},
	{"/docker/" OTHER_ID "/docker/" ID, SHORT},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope", SHORT},
	{"/actions_job/" ID, SHORT},
	/* podman */
	{"/machine.slice/libpod-" ID ".scope", SHORT},
	{"/machine.slice/libpod-" ID ".scope/container", SHORT},
	{"/machine.slice/libpod-conmon-" ID ".scope", SHORT},
	{"/libpod_parent/libpod-" ID, SHORT},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
	 SHORT},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/podman-4711.scope",
	 "podman-4711.scope"},
	{"/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" OTHER_ID ".scope",
	 "0123456789ab"},
	/* Kubernetes with containerd, CRI-O, docker; by systemd and by cgroupfs */
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-" POD
	 ".slice/cri-containerd-" ID ".scope",
	 SHORT},
	{"/kubepods.slice/kubepods-" POD ".slice/crio-" ID ".scope", SHORT},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-" POD ".slice/docker-" ID
	 ".scope",
	 SHORT},
	{"/kubepods/burstable/" POD_DASHES "/" ID, SHORT},
	{"/kubepods/" POD_DASHES "/" ID, SHORT},
	{"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
	 "kubelet-kubepods-burstable-" POD ".slice/cri-containerd-" ID ".scope",
	 SHORT},
	{"/system.slice/containerd.service/kubepods-burstable-" POD ".slice:cri-containerd:" ID,
	 "containerd.service"},
	/* containerd by itself, nerdctl, Amazon's ECS */
	{"/default/" ID, SHORT},
	{"/system.slice/nerdctl-" ID ".scope", SHORT},
	{"/ecs/0123456789abcdef0123456789abcdef/" ID, SHORT},
	/* LXC, LXD, Incus */
	{"/lxc.payload.web-1/system.slice/nginx.service", "web-1"},
	{"/lxc.payload/web/init.scope", "web"},
	{"/lxc/web", "web"},
	{"/lxc/104/ns/init.scope", "104"}, /* Proxmox */
	{"/lxc.monitor.web", NULL},
	/* systemd-nspawn and libvirt */
	{"/machine.slice/machine-debian\\x2d12.scope/payload/init.scope", "debian-12"},
	{"/machine.slice/systemd-nspawn@web.service/payload/system.slice/cron.service", "web"},
	{"/machine.slice/machine-qemu\\x2d3\\x2dbuilder.scope/libvirt/emulator", "qemu-3-builder"},
	/* services and sessions of systemd */
	{"/system.slice/nginx.service", "nginx.service"},
	{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"},
	{"/system.slice/system-postgresql.slice/postgresql@15-main.service",
	 "postgresql@15-main.service"},
	{"/user.slice/user-1000.slice/session-3.scope", "session-3.scope"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-firefox-4711.scope",
	 "app-gnome-firefox-4711.scope"},
	{"/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope"},
	{"/init.scope", "init.scope"},
	/* none */
	{"/", NULL},
	{"", NULL},
	{"/user.slice", NULL},
	{"/docker", NULL},
	{"/docker/" SHORT, NULL},
	{"/kubepods/burstable/" POD_DASHES, NULL},
	{"/lxc", NULL},
	{"/.service", NULL},
	{"/machine.slice/machine-.scope", "machine-.scope"},
	{"/a/" ID "0", NULL},
	{"/a/" ID "g", NULL},
	{"/a/-" ID, NULL},
	{"//docker//" ID "//", SHORT},
};

TEST(a_path_names_its_innermost_container_or_service)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct cgroup_name name;

		if (!cgroup_name_of(known[i].path, &name)) {
			if (known[i].name)
				fail_msg("%s names nothing", known[i].path);
		} else if (!known[i].name || strcmp(name.text, known[i].name) != 0) {
			fail_msg("%s names %s", known[i].path, name.text);
		}
	}
}

/* Returns the end of the wanted part of the path, or 0. */
static size_t end_of(const char *path, const char *wanted)
{
	struct cgroup_name name;
	size_t at = 0;

	while (cgroup_name_next(path, &at, &name))
		if (cgroup_name_is(&name, wanted))
			return name.end;
	return 0;
}

TEST(every_name_of_a_path_can_be_wanted)
{
	const char *path = "/user.slice/user@1000.service/app.slice/docker-" ID ".scope/init.scope";

	assert_int_equal(end_of(path, "user.slice"), strlen("/user.slice"));
	assert_int_equal(end_of(path, "user@1000.service"),
			 strlen("/user.slice/user@1000.service"));
	assert_int_equal(end_of(path, ID), strlen(path) - strlen("/init.scope"));
	assert_int_equal(end_of(path, "init.scope"), strlen(path));
	assert_int_equal(end_of(path, "user"), 0);
	assert_int_equal(end_of(path, "docker"), 0);
}

TEST(an_id_is_wanted_by_four_of_its_first_digits)
{
	assert_true(end_of("/docker/" ID, "4f1c"));
	assert_true(end_of("/docker/" ID, "4F1C0A2B"));
	assert_true(end_of("/docker/" ID, SHORT));
	assert_false(end_of("/docker/" ID, "4f1"));
	assert_false(end_of("/docker/" ID, "f1c0"));
	assert_false(end_of("/docker/" ID, ID "0"));
	assert_false(end_of("/docker/" ID, ""));
	assert_false(end_of("/lxc/webserver", "webs"));
}

TEST(a_long_name_is_cut)
{
	char path[2 * CGROUP_NAME_MAX] = "/lxc/";
	struct cgroup_name name;

	memset(path + strlen("/lxc/"), 'x', CGROUP_NAME_MAX + 20);
	assert_true(cgroup_name_of(path, &name));
	assert_int_equal(strlen(name.text), CGROUP_NAME_MAX - 1);
}
